import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Fault } from '@ecf/domain';
import { examineJson } from '@ecf/ecf-xml';
import { describe, expect, it } from '@jest/globals';
import { DOCUMENTS, documentsFor, TO_ITSELF } from '../src/rehearsal/documents.js';
import { differences, type Opinion, opinion, type RulesOpinion } from '../src/rehearsal/opinions.js';
import type { Row } from '../src/rehearsal/rehearsal.js';
import { report } from '../src/rehearsal/report.js';
import { table } from '../src/rehearsal/table.js';
import { ecf, rows } from './ecf.js';
import { useGateway } from './gateway.js';

const NOW = new Date('2026-11-27T12:00:00-04:00');
const ACCEPTED = opinion('Aceptado', [{ codigo: '0', valor: '' }], true);
const VALID: RulesOpinion = { valid: true, faults: [], warnings: [] };
const refused = (codigo: string, used = true): Opinion =>
  opinion('Rechazado', [{ codigo, valor: 'no es válido' }], used);

describe('the documents of a rehearsal', () => {
  it.each(DOCUMENTS.map((document) => [document.name, document] as const))(
    'have no faults and no warnings, except that a buyer is its own issuer: %s.',
    (name, document) => {
      const modified = { encf: 'E310000000001', date: '27-11-2026' };
      const built = document.build({ rnc: '199999991', name: 'Comercial Palma, SRL' }, NOW, modified) as {
        ECF: { Encabezado: { IdDoc: Record<string, string> } };
      };
      const number = { eNCF: `E${document.type}0000000002` };
      const expiry = ['32', '34'].includes(document.type) ? {} : { FechaVencimientoSecuencia: '31-12-2028' };
      Object.assign(built.ECF.Encabezado.IdDoc, number, expiry);
      const { faults, warnings } = examineJson(built, { now: NOW });
      expect(faults).toEqual([]);
      expect(warnings.map(({ rule }) => rule)).toEqual(name === TO_ITSELF ? ['business.buyer-is-issuer'] : []);
    },
  );

  it('are one of each type, two of type 32, and one more of type 31 for delivery and approval.', () => {
    const types = DOCUMENTS.map(({ type }) => type).sort();
    expect(types).toEqual(['31', '31', '32', '32', '33', '34', '41', '43', '44', '45', '46', '47']);
    expect(documentsFor(new Set(['33'])).map(({ name }) => name)).toEqual(['31', '33']);
  });
});

describe('the comparison', () => {
  const fault: Fault = { path: 'ECF', rule: 'r', code: null, message: 'm', source: 's', severity: 'error' };
  const invalid: RulesOpinion = { valid: false, faults: [fault], warnings: [] };

  it.each<[string, Opinion, RulesOpinion, Opinion, string[]]>([
    ['an acceptance by all', ACCEPTED, VALID, ACCEPTED, []],
    ['a rejection by all', refused('145'), invalid, refused('0145'), []],
    [
      'a rejection of the authority alone',
      refused('145'),
      VALID,
      ACCEPTED,
      ['our rules find no fault in what the authority rejects', 'the authority rejects it, the simulator accepts it'],
    ],
    ['a rejection of our rules alone', ACCEPTED, invalid, ACCEPTED, ['our rules refuse what the authority accepts']],
    [
      'different codes',
      refused('145'),
      invalid,
      refused('75'),
      ['the authority gives code 145, the simulator code 75'],
    ],
    [
      'a number that is used for one of them',
      refused('145', false),
      invalid,
      refused('145', true),
      ['the number is free for the authority and used for the simulator'],
    ],
  ])('finds what differs: %s.', (_what, authority, rules, simulator, reasons) => {
    expect(differences(authority, rules, simulator)).toEqual(reasons);
  });

  it('leaves out the message of the gateway that it waits.', () => {
    expect(opinion('Aceptado', [{ codigo: 'gateway', valor: 'waits' }], null).messages).toEqual([]);
  });
});

const ROW: Row = {
  document: '32 summary',
  encf: 'E320000000001',
  result: 'differs',
  reasons: ['the authority rejects it, the simulator accepts it'],
  authority: opinion('Rechazado', [{ codigo: '145', valor: 'palabra '.repeat(30).trim() }], true),
  receipt: null,
  rules: VALID,
  simulator: ACCEPTED,
  sent: [],
  answers: null,
};

describe('the table', () => {
  it.each([80, 120])('is at most %s columns wide, and marks what does not agree.', (columns) => {
    const rows: Row[] = [{ ...ROW, document: '31', result: 'agrees', authority: ACCEPTED, reasons: [] }, ROW];
    const lines = table(rows, columns).split('\n');
    const longest = Math.max(...lines.map((line) => line.length));
    expect(longest).toBeLessThanOrEqual(columns);
    expect(longest).toBeGreaterThan(columns - 10);
    expect(lines[2]).toMatch(/^ {2}31 .* agrees$/);
    expect(lines[3]).toMatch(/^! 32 summary .* DIFFERS$/);
  });

  it('shows control characters of the authority as signs.', () => {
    const authority = opinion('Rechazado', [{ codigo: '1', valor: 'a\u001b[31mb' }], true);
    expect(table([{ ...ROW, authority }], 80)).toContain('authority: 1 a\ufffd[31mb');
  });
});

describe('an anonymous report', () => {
  const NAME = 'Núñez & Hija';
  const xml =
    `<ECF><Emisor><RNCEmisor>00112345678</RNCEmisor><RazonSocialEmisor>Núñez &amp; Hija</RazonSocialEmisor>` +
    '<DireccionEmisor>Calle Duarte 1</DireccionEmisor><TelefonoEmisor>809-555-0100</TelefonoEmisor>' +
    '<CorreoEmisor>ana@nunez.example</CorreoEmisor></Emisor><eNCF>E310000000001</eNCF><RNCComprador>131880681</RNCComprador>' +
    '<X509Certificate>MIIabc</X509Certificate></ECF>';
  const row: Row = {
    ...ROW,
    authority: opinion('Rechazado', [{ codigo: '0', valor: `El RNC 00112345678 de ${NAME} no está activo` }], false),
    sent: [{ filename: '00112345678E310000000001.xml', bytes: Buffer.from(xml) }],
    answers: [{ raw: [{ body: '{"valor":"N\\u00fa\\u00f1ez & Hija, ana@nunez.example, 809-555-0100"}' }] }],
  };
  const facts = {
    ...{ env: 'TesteCF', issuer: { rnc: '00112345678', name: NAME }, reference: 'r', began_at: 'b', ended_at: 'e' },
    ...{ versions: {}, gateway: { url: 'https://gateway.nunez.example', authority: 'official' as const } },
  };

  it('has no name, address, mail, telephone number, cédula or certificate, also not in answers.', () => {
    const text = report(facts, [row], true);
    for (const secret of ['Núñez', 'u00fa', '00112345678', 'Duarte', 'ana@', '555-0100', 'MIIabc', 'gateway.nunez'])
      expect(text).not.toContain(secret);
    expect(JSON.parse(text).rows[0].authority.messages[0].valor).toBe('El RNC 00000000000 de anonymous no está activo');
  });

  /** What an anonymous report makes of a message of the authority. */
  function hidden(valor: string, name = NAME, rows: Row[] = []): string {
    const said = { ...ROW, authority: opinion('Rechazado', [{ codigo: '0', valor }], false) };
    const { issuer, rows: written } = JSON.parse(
      report({ ...facts, issuer: { ...facts.issuer, name } }, [said, ...rows], true),
    );
    expect(issuer.name).toBe('anonymous');
    return written[0].authority.messages[0].valor;
  }

  it.each([
    ['the name in capitals', 'NÚÑEZ & HIJA no existe', 'anonymous no existe'],
    ['the name in capitals, as JSON in ASCII', '{"N\\u00DA\\u00D1EZ & HIJA"}', '{"anonymous"}'],
    ['a cédula with dashes', 'cédula 001-1234567-8.', 'cédula 000-0000000-0.'],
    ['a telephone number with its area code in parentheses', 'tel. (809) 555-0100', 'tel. anonymous'],
    ['a telephone number without separators', 'tel.\\n8295550100', 'tel.\\nanonymous'],
    ['a telephone number with dots', 'tel. 849.555.0100', 'tel. anonymous'],
  ])('hides in an answer %s.', (_what, valor, expected) => {
    expect(hidden(valor)).toBe(expected);
  });

  it.each([
    'PrecioUnitarioItem 250000.0000 de E310000000001 al 27-11-2026, RNC 131880681',
    'd1e2f3a4-1234-4321-a123-12345678abcd',
    'd1e2f3a4-1234-4321-8123-a8095550100b',
  ])('keeps prices, numbers, dates and trackIds: %s.', (valor) => {
    expect(hidden(valor)).toBe(valor);
  });

  it('hides a short name of the issuer where it is the whole text.', () => {
    expect(hidden('LA no es válido', 'LA')).toBe('LA no es válido');
  });

  it('hides the name of the signer, which the certificate in the signature states.', () => {
    const signed = readFileSync(join(import.meta.dirname, '../../../examples/golden/ecf-43.xml'));
    const [, base64 = ''] = /<X509Certificate>([^<]+)</.exec(signed.toString()) ?? [];
    const { CN } = new X509Certificate(Buffer.from(base64, 'base64')).toLegacyObject().subject;
    expect(
      hidden(`El firmante ${CN} no está delegado`, NAME, [{ ...ROW, sent: [{ filename: 'a.xml', bytes: signed }] }]),
    ).toBe('El firmante anonymous no está delegado');
  });

  it('keeps numbers, the RNC of companies and the checksum of the sent bytes.', () => {
    const [hidden, named] = [true, false].map(
      (anonymous) => JSON.parse(report(facts, [row], anonymous)).rows[0].sent[0],
    );
    expect(hidden.xml).toContain('<eNCF>E310000000001</eNCF><RNCComprador>131880681</RNCComprador>');
    expect(hidden.sha256).toBe(named.sha256);
    expect(named.xml).toBe(xml);
  });
});

describe('a gateway that ends while it answers', () => {
  const encf = 'E430000000001';
  const range = { env: 'TesteCF', ecf_type: '43', from: encf, to: 'E430000000009', expires: '2028-12-31' };
  const account = {
    ...{ account: { id: '1', name: 'a' }, key: { id: '1', name: 'k', expires_at: null }, total_taxpayers: 1 },
    ...{ environments: ['TesteCF'], scopes: ['submit', 'read', 'approve'] },
    taxpayers: [
      {
        ...{
          rnc: '199999991',
          name: 'Comercial Palma',
          active: true,
          certificate_not_after: '2099-12-31T00:00:00-04:00',
        },
        ranges: [{ ...range, next: encf, remaining: 9 }],
      },
    ],
  };
  const invoice = { encf, status: 'Aceptado', route: 'ecf', messages: [], sequence_used: true };
  const service = { version: '0.1.0', authority: 'simulated' };
  const ANSWERS: Record<string, unknown> = {
    '/': service,
    '/account': account,
    '/fe_Submit': { encf },
    [`/invoices/${encf}`]: invoice,
    [`/trackids/${encf}/raw`]: { track_ids: [] },
    [`/${encf}/xml`]: readFileSync(join(import.meta.dirname, '../../../examples/golden/ecf-43.xml')),
  };
  const keys: (string | undefined)[] = [];
  const gateway = http.createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    request.resume().on('end', () => {
      if (path === '/fe_Submit' && keys.push(request.headers['idempotency-key'] as string | undefined) === 1)
        return response.destroy();
      const answer = ANSWERS[path];
      return response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
    });
  });
  useGateway(gateway, 'ECF_API_KEY');

  it('gets the submission again under the same idempotency key, so no second number is used.', async () => {
    const args = ['rehearse', '--env', 'TesteCF', '--issuer', '199999991', '--types', '43'];
    const { code, stdout, stderr } = await ecf(args);
    expect([code, stderr]).toEqual([0, expect.stringContaining('the connection was cut off; next try in 1 s')]);
    expect(rows(stdout)).toEqual([expect.objectContaining({ encf, result: 'agrees' })]);
    expect(keys).toEqual([expect.stringMatching(/^rehearsal-[\w-]+ 43$/), keys[0]]);
  });

  it.each([
    ['simulated', 'a simulator, not DGII', 'Our rules and the simulator agree. That says nothing about the authority'],
    ['official', 'its official hosts', 'The authority, our rules and the simulator agree.'],
  ])(
    'is named with its authority, which is %s, before the first document, in the summary and in the report.',
    async (authority, who, summary) => {
      service.authority = authority;
      const out = join(mkdtempSync(join(tmpdir(), 'ecf-rehearse-')), 'report.json');
      const args = ['rehearse', '--env', 'TesteCF', '--issuer', '199999991', '--types', '43', '--text', '--out', out];
      const { code, stdout, stderr } = await ecf(args);
      const url = process.env.ECF_URL;
      expect([code, stderr]).toEqual([0, expect.stringContaining(`Gateway: ${url}. Authority: ${who}.\n`)]);
      expect(stdout).toContain(`Gateway: ${url}. Authority: ${who}.\n1 agree, 0 differ, 0 without result\n${summary}`);
      expect(JSON.parse(readFileSync(out, 'utf8')).gateway).toEqual({ url, authority });
      rmSync(dirname(out), { recursive: true });
    },
  );
});
