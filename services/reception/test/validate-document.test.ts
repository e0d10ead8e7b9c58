import { writeXml } from '@ecf/ecf-xml';
import { trustCheck } from '@ecf/public-ingress/signed-document';
import { testKey } from '@ecf/test-support';
import { readTrustedIssuers, signXml } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { describe, expect, it } from '@jest/globals';
import { ReceptionError } from '../src/errors.js';
import {
  type InvalidDocument,
  type ValidateOptions,
  type ValidDocument,
  validateDocument,
} from '../src/receive/validate-document.js';
import { type EditableEcf, sampleBytes, sampleTree, sampleXml } from './support/documents.js';
import { authority, BUYER, expired, issue, NOW, PROVIDER, provider } from './support/senders.js';

const options: ValidateOptions = { now: NOW, trust: trustCheck({ issuers: null }), maxBytes: 10 * 1024 * 1024 };

function validate(text: string | Uint8Array, other: Partial<ValidateOptions> = {}) {
  return validateDocument(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, { ...options, ...other });
}

function refusal(text: string | Uint8Array): ReceptionError {
  try {
    validate(text);
  } catch (error) {
    if (error instanceof ReceptionError) return error;
    throw error;
  }
  throw new Error('it was validated');
}

describe('a valid document', () => {
  it('is described by the signed content', async () => {
    expect(validate(await sampleBytes())).toMatchObject({
      motive: null,
      parties: { issuerRnc: PROVIDER, buyerRnc: BUYER, encf: 'E310000000001' },
      ecfType: '31',
      canonical: 'as-is',
      facts: { totalAmount: '11430.00', totalItbis: '1630.00', dateIssued: '2026-06-15' },
      signer: { holderId: '00100000001', trusted: null },
      securityCode: expect.stringMatching(/^[A-Za-z0-9+/]{6}$/),
    });
  });

  it.each([
    ['with a byte order mark', (xml: string) => `\ufeff${xml}`],
    ['without prolog', (xml: string) => xml.replace(/^<\?xml[^>]*\?>/, '')],
    ['with line ends before the prolog', (xml: string) => `\r\n\n  ${xml}`],
    ['with a byte order mark and a line end before the prolog', (xml: string) => `\ufeff\r\n ${xml}`],
    ['pretty-printed after signing', (xml: string) => xml.replaceAll('><', '>\n  <')],
    ['with a comment behind the root', (xml: string) => `${xml}\n<!-- sent by a cash desk -->\n`],
    [
      'declared UTF-16 by a program that wrote it in memory',
      (xml: string) => xml.replace(/encoding="[^"]*"/, 'encoding="utf-16"'),
    ],
    ['with CRLF', (xml: string) => xml.replaceAll('><', '>\r\n<')],
  ])('is accepted %s', async (_, change) => {
    expect(validate(change(await sampleXml()))).toMatchObject({ motive: null });
  });

  it('may be declared Latin-1 if it is ASCII only, and is refused otherwise', async () => {
    const edit = (ecf: EditableEcf) => {
      const plain = JSON.stringify(ecf)
        .normalize('NFD')
        .replace(/[^ -~]/g, '');
      Object.assign(ecf, JSON.parse(plain));
    };
    const latin = (xml: string) => xml.replace(/encoding="[^"]*"/, "encoding='ISO-8859-1'");
    expect(validate(latin(await sampleXml({ edit })))).toMatchObject({ motive: null });
    expect(refusal(latin(await sampleXml())).kind).toBe('xml.encoding');
  });

  it('that others may refuse has a warning as its first observation, and is received', async () => {
    const indented = writeXml(sampleTree()).canonical.replaceAll('><', '>\n  <');
    const { xml: blanks } = await signXml({ canonical: indented, output: indented }, provider.certificate);
    const edit = (ecf: EditableEcf) => {
      ecf.Encabezado.Emisor.DireccionEmisor = 'Calle Uno 1\r\nEdificio Dos';
    };
    for (const [xml, says] of [
      [blanks, 'blank text between the elements'],
      [await sampleXml({ edit }), 'carriage returns'],
    ] as const) {
      expect(validate(xml)).toMatchObject({
        motive: null,
        observations: [{ rule: 'signature.blanks', severity: 'warning', message: expect.stringContaining(says) }],
      });
    }
    expect(validate((await sampleXml()).replaceAll('><', '>\n  <'))).toMatchObject({ motive: null, observations: [] });
  });

  it('may have Version 1, as the authority itself writes', async () => {
    const edit = (ecf: EditableEcf) => {
      ecf.Encabezado.Version = '1';
    };
    expect(validate(await sampleBytes({ edit }))).toMatchObject({ motive: null });
  });

  it('may have an expired sequence, which is at most an observation', async () => {
    const edit = (ecf: EditableEcf) => {
      ecf.Encabezado.IdDoc.FechaVencimientoSecuencia = '31-12-2020';
    };
    expect(validate(await sampleBytes({ edit }))).toMatchObject({ motive: null });
  });

  it('may have an impossible day, which is an observation', async () => {
    const edit = (ecf: EditableEcf) => {
      ecf.Encabezado.Emisor.FechaEmision = '31-02-2026';
    };
    const validated = validate(await sampleBytes({ edit }));
    expect(validated).toMatchObject({ motive: null, facts: { dateIssued: null } });
    expect((validated as ValidDocument).observations.length).toBeGreaterThan(0);
  });

  it('may have a total that differs from its lines, which is an observation', async () => {
    const validated = validate(await sampleBytes({ total: '999999.99' }));
    expect(validated).toMatchObject({ motive: null, facts: { totalAmount: '999999.99' } });
    expect((validated as ValidDocument).observations.map(({ rule }) => rule.split('.')[0])).toContain('business');
  });

  it.each(['33', '34', '44', '45'])('may be of type %s', async (type) => {
    expect(validate(await sampleBytes({ type }))).toMatchObject({ motive: null, ecfType: type });
  });

  it('may be signed with a certificate that has expired since, for as long as an earlier signing time is believed', async () => {
    const bytes = await sampleBytes({ certificate: expired.certificate, signedAt: '30-12-2025 10:00:00' });
    const at = (now: string) => validateDocument(bytes, { ...options, now: new Date(now) });
    expect(at('2026-01-06T20:00:00-04:00')).toMatchObject({ motive: null });
    expect(at('2026-01-07T20:00:00-04:00')).toMatchObject({
      motive: 2,
      particulars: expect.stringContaining('SIGNING_TIME_TOLERANCE'),
    });
  });
});

describe('motive 1', () => {
  it('names the first fault and the number of others', async () => {
    const edit = ({ Encabezado }: EditableEcf) => {
      Encabezado.Totales.MontoTotal = 'mucho';
      Encabezado.IdDoc.TipoIngresos = '1';
    };
    const validated = validate(await sampleBytes({ edit }));
    expect(validated).toMatchObject({ motive: 1, parties: { encf: 'E310000000001' } });
    expect((validated as InvalidDocument).particulars).toMatch(/^ECF\.Encabezado\..*\(and 1 more\)$/);
  });

  it.each([
    ['an unknown element', (xml: string) => xml.replace('<DetallesItems>', '<Propina>1</Propina><DetallesItems>')],
    ['an unlisted type', (xml: string) => xml.replace('<TipoeCF>31', '<TipoeCF>99')],
    ['two signatures', (xml: string) => xml.replace(/(<Signature .*<\/Signature>)/s, '$1$1')],
    ['no signature', (xml: string) => xml.replace(/<Signature .*<\/Signature>/s, '')],
    [
      'parties out of order',
      (xml: string) => xml.replace(/(<Emisor>.*<\/Emisor>)(<Comprador>.*<\/Comprador>)/s, '$2$1'),
    ],
    ['another root', (xml: string) => xml.replace('<ECF ', '<Factura ').replace('</ECF>', '</Factura>')],
    ['a default namespace', (xml: string) => xml.replace('<ECF ', '<ECF xmlns="urn:x" ')],
    ['an empty element', (xml: string) => xml.replace(/<TipoPago>.*?<\/TipoPago>/, '<TipoPago></TipoPago>')],
  ])('is the answer to %s', async (_, change) => {
    expect(validate(change(await sampleXml()))).toMatchObject({ motive: 1 });
  });

  it('takes precedence over motive 2', async () => {
    const xml = (await sampleXml()).replace('<TipoPago>1', '<TipoPago>9');
    expect(validate(xml)).toMatchObject({ motive: 1 });
  });

  it.each(['32-large', '41', '46'])('is the answer to a type that is not delivered: %s', async (type) => {
    const edit = ({ Encabezado }: EditableEcf) => {
      Encabezado.IdDoc.eNCF = `E${type.slice(0, 2)}0000000001`;
      if (Encabezado.Comprador !== undefined) Encabezado.Comprador.RNCComprador = BUYER;
    };
    expect(validate(await sampleBytes({ type, edit }))).toMatchObject({ motive: 1 });
  });
});

describe('minor expenses (43) and payments abroad (47)', () => {
  it.each(['43', '47'])('cannot be acknowledged without an RNC of a buyer: %s', async (type) => {
    const xml = await sampleXml({ type, buyer: null });
    expect(refusal(xml)).toMatchObject({ kind: 'document.party_missing' });
  });

  it.each([
    ['43', '<Totales>', `<Comprador><RNCComprador>${BUYER}</RNCComprador></Comprador><Totales>`],
    ['47', '<Comprador>', `<Comprador><RNCComprador>${BUYER}</RNCComprador>`],
  ])('get motive 1 if they name a buyer: %s', async (type, place, buyer) => {
    const xml = (await sampleXml({ type, buyer: null })).replace(place, buyer);
    expect(validate(xml)).toMatchObject({ motive: 1 });
  });
});

describe('motive 2', () => {
  it.each([
    ['a changed amount', (xml: string) => xml.replace('<MontoTotal>11430.00', '<MontoTotal>11430.01')],
    ['a changed number', (xml: string) => xml.replace('E310000000001', 'E310000000002')],
    ['a comment after signing', (xml: string) => xml.replace('<DetallesItems>', '<!-- x --><DetallesItems>')],
    ['a broken SignatureValue', (xml: string) => xml.replace(/<SignatureValue>..../, '<SignatureValue>AAAA')],
  ])('is the answer to %s', async (_, change) => {
    expect(validate(change(await sampleXml()))).toMatchObject({ motive: 2 });
  });

  it('is the answer to a certificate that was not valid when it signed', async () => {
    const bytes = await sampleBytes({ certificate: expired.certificate });
    expect(validate(bytes)).toMatchObject({
      motive: 2,
      particulars: expect.stringContaining('the signing time is outside of'),
      signer: { subject: expired.certificate.subject },
    });
  });

  it('is the answer to an untrusted issuer, if trusted ones are configured', async () => {
    const trusted = trustCheck({ issuers: readTrustedIssuers(authority.pem) });
    const stranger = issue({
      commonName: 'Own Authority',
      holderId: '00900000009',
      by: createCertificateAuthority({ key: testKey(3) }),
    });
    expect(validate(await sampleBytes(), { trust: trusted })).toMatchObject({ motive: null });
    const foreign = await sampleBytes({ certificate: stranger.certificate });
    expect(validate(foreign, { trust: trusted })).toMatchObject({ motive: 2 });
    expect(validate(foreign)).toMatchObject({ motive: null });
  });
});

describe('a number of another length', () => {
  it.each(['E31000001', 'E3100000001'])('gets motive 1 if an acknowledgement can quote it: %s', async (encf) => {
    expect(validate(await sampleBytes({ encf }))).toMatchObject({ motive: 1, parties: { encf } });
  });

  it.each(['E31000000001', 'E3100000000001', 'E31000000000-'])(
    'gets no acknowledgement if it cannot be quoted: %s',
    async (encf) => {
      expect(refusal(await sampleBytes({ encf })).kind).toBe('document.encf_malformed');
    },
  );
});

describe('no acknowledgement', () => {
  it.each([
    ['nothing', '', 'xml.empty'],
    ['no XML', 'PK\u0003\u0004', 'xml.not_well_formed'],
    ['half a document', '<ECF><Encabezado>', 'xml.not_well_formed'],
    ['a document type declaration', '<!DOCTYPE ECF [<!ENTITY x "y">]><ECF/>', 'xml.doctype'],
    ['another document', '<Factura/>', 'document.not_an_ecf'],
    ['no header', '<ECF><DetallesItems/></ECF>', 'document.not_an_ecf'],
    [
      'no buyer',
      `<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc><Emisor><RNCEmisor>${PROVIDER}</RNCEmisor></Emisor></Encabezado></ECF>`,
      'document.party_missing',
    ],
    [
      'prefixed elements',
      '<x:ECF xmlns:x="urn:x"><x:Encabezado><x:IdDoc><x:eNCF>E310000000001</x:eNCF></x:IdDoc></x:Encabezado></x:ECF>',
      'document.not_an_ecf',
    ],
    [
      'path characters for an RNC',
      `<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc><Emisor><RNCEmisor>../../etc</RNCEmisor></Emisor><Comprador><RNCComprador>${BUYER}</RNCComprador></Comprador></Encabezado></ECF>`,
      'document.party_malformed',
    ],
  ])('is given for an unreadable document: %s', (_, text, kind) => {
    const error = refusal(text);
    expect([error.code, error.kind]).toEqual(['unreadable_document', kind]);
  });
});
