import { openCertificate } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startSimulator } from '../src/index.js';
import { Authority } from './support/authority.js';
import { ecf, ISSUER } from './support/documents.js';
import { call } from './support/http.js';
import { certificate, sign } from './support/signing.js';

let authority: Authority;

beforeAll(async () => {
  authority = await Authority.start();
});
afterAll(() => authority.stop());

describe('the page', () => {
  const page = async () => (await authority.call('/', { headers: { Accept: 'text/html,*/*;q=0.8' } })).text;

  it('shows a browser the addresses, documents and faults, and a program one line of text', async () => {
    expect(await page()).toContain('No document has arrived.');
    await authority.send(sign(ecf({ encf: 'E310000000007' }), certificate()));
    await authority.fault({ operation: 'recepcion', kind: 'timeout', times: 2 });
    const shown = await page();
    for (const text of [
      `${authority.url}/testecf/`,
      'E310000000007',
      ISSUER,
      'Aceptado',
      '<b>timeout</b> on recepcion, 2 calls',
    ])
      expect(shown).toContain(text);
    const text = await authority.call('/');
    expect([text.headers['content-type'], text.text.split('\n').length]).toEqual(['text/plain; charset=utf-8', 2]);
  });

  it('shows the status of a forced verdict as text', async () => {
    await authority.control('POST', 'reset');
    const verdict = { codigo: '2', estado: '<img src=x>' };
    await authority.fault({ operation: 'recepcion', kind: 'verdict', times: 1, verdict });
    await authority.send(sign(ecf({ encf: 'E310000000008' }), certificate()));
    expect(await page()).toContain('&#60;img src=x&#62;');
  });
});

describe('a test certificate', () => {
  it('names its holder, and a login with it gets a token', async () => {
    const reply = await authority.control('GET', 'certificate?holder_id=00112345673&rnc=131880738&name=ANA');
    expect(reply.headers['content-type']).toBe('application/x-pkcs12');
    const opened = openCertificate(reply.body, 'simulador', authority.now);
    expect(opened.holderId).toBe('00112345673');
    expect(opened.subject).toContain('ANA');
  });

  it.each([
    ['rnc=12', 'rnc has to be 9 or 11 digits.'],
    ['holder_id=a%20b', 'holder_id has to be a cédula, an RNC or a passport number.'],
    [`name=${'x'.repeat(65)}`, 'name has at most 64 characters.'],
  ])('is refused for %s', async (query, detail) => {
    const reply = await authority.control('GET', `certificate?${query}`);
    expect([reply.status, reply.json()]).toEqual([400, { detail }]);
  });
});

describe('a simulator in a program', () => {
  it('fails on request, lists what arrived, and forgets it', async () => {
    const simulator = await startSimulator({ processingMs: 0 });
    try {
      const seed = async () => (await call(`${simulator.url}/testecf/autenticacion/api/autenticacion/semilla`)).status;
      simulator.fail({ operation: 'autenticacion', kind: 'http', status: 503, times: 1 });
      expect([await seed(), await seed()]).toEqual([503, 200]);
      expect(() => simulator.fail({ operation: 'autenticacion', kind: 'slow' })).toThrow(
        'delay_ms: a fault of kind slow needs it.',
      );
      const { p12, password } = simulator.certificate();
      expect(openCertificate(Buffer.from(p12), password, new Date()).holderId).toBe('00100000001');
      expect(simulator.submissions()).toEqual([]);
      simulator.reset();
    } finally {
      await simulator.stop();
    }
  });
});
