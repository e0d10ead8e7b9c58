/** All calls against the authority's simulator, which was written independently from the same contract. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Simulator, startSimulator } from '@ecf/authority-simulator';
import { type DocumentNode, deriveRfce } from '@ecf/domain';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { testKey } from '@ecf/test-support';
import { openCertificate, type SignedXml, type SigningCertificate, securityCode, signXml } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type AuthorityClient,
  authorityEndpoints,
  createAuthorityClient,
  createReceiverClient,
  createTokenProvider,
  inMemoryTokenCache,
  type TokenProvider,
} from '../src/index.js';

const clock = () => new Date('2026-06-18T12:00:00Z');
const examples = join(dirname(fileURLToPath(import.meta.url)), '../../../examples');
const ISSUER = '199999991';
const BUYER = '188888885';
const env = 'TesteCF';

let simulator: Simulator;
let client: AuthorityClient;
let tokens: TokenProvider;
let certificate: SigningCertificate;
let token: string;

/** An example document with text changes, ready to be written. */
function example(name: string, change: (text: string) => string = (text) => text): DocumentNode {
  const checked = checkJson(JSON.parse(change(readFileSync(join(examples, `${name}.json`), 'utf8'))));
  if (!checked.tree || checked.faults.length > 0) throw new Error(JSON.stringify(checked.faults));
  return checked.tree;
}

function signed(tree: DocumentNode): Promise<SignedXml> {
  return signXml(writeXml(tree), certificate);
}

function invoice(encf: string): Promise<SignedXml> {
  const at = '"DetallesItems"';
  return signed(
    example(`ecf-${encf.slice(1, 3)}`, (text) =>
      text.replace(/E3\d0000000001/, encf).replace(at, `"FechaHoraFirma":"18-06-2026 08:00:00",${at}`),
    ),
  );
}

async function control(path: string, method = 'GET', body?: unknown): Promise<unknown> {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${simulator.url}/_control/${path}`, { method, ...init });
  return answer.status === 204 ? null : answer.json();
}

/** Submits a document and waits for its verdict. */
async function submitAndQuery(encf: string) {
  const document = await invoice(encf);
  const { xml } = document;
  const receipt = await client.submitDocument({ env, token, issuerRnc: ISSUER, encf, xml });
  if (receipt.outcome !== 'verdict') throw new Error(JSON.stringify(receipt));
  const trackId = receipt.verdict.trackId ?? '';
  return { document, trackId, result: await client.queryResult({ env, token, trackId, issuerRnc: ISSUER, encf }) };
}

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, processingMs: 0, clock, statusKey: 'status-key-1' });
  client = createAuthorityClient({
    endpoints: authorityEndpoints(simulator.url),
    userAgent: 'ecf-test/1',
    timeouts: { responseMs: 500 },
    circuit: false,
    clock,
  });
  tokens = createTokenProvider({ client, cache: inMemoryTokenCache(clock), clock });
  const issued = createCertificateAuthority({ key: testKey(1) }).issue({
    commonName: 'Ana Muestra',
    holderId: '00100000001',
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2027-01-01T00:00:00Z'),
    password: 'test',
    key: testKey(0),
  });
  certificate = openCertificate(issued.p12, issued.password, clock());
  token = (await tokens.get({ env, account: 'a', rnc: '131000001', certificate })).token;
});
afterAll(async () => {
  client.close();
  await simulator.stop();
});

describe('against the simulator', () => {
  it('logs in for an hour; an invented token is refused', async () => {
    const { expiresAt } = await tokens.get({ env, account: 'a', rnc: '131000001', certificate });
    expect(expiresAt).toEqual(new Date('2026-06-18T13:00:00Z'));
    const answer = await client.queryResult({
      env,
      token: `${token}x`,
      trackId: 'x',
      issuerRnc: ISSUER,
      encf: 'E310000000011',
    });
    expect(answer.outcome).toBe('unauthorized');
  });

  it('submits an e-CF, gets its verdict, and finds it by its data and its trackIds', async () => {
    const encf = 'E310000000011';
    const { document, trackId, result } = await submitAndQuery(encf);
    expect(result).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Aceptado', code: '1', messages: [], trackId, rnc: ISSUER, encf },
    });
    if (result.outcome === 'verdict') expect(result.verdict.dateReceived).toBe('2026-06-18T08:00:00-04:00');
    const query = { env, token, issuerRnc: ISSUER, encf } as const;
    expect(
      await client.queryState({ ...query, buyerRnc: BUYER, securityCode: securityCode(document.signatureValue) }),
    ).toMatchObject({ outcome: 'verdict', verdict: { status: 'Aceptado', encf, issuerRnc: ISSUER, buyerRnc: BUYER } });
    expect(await client.queryTrackIds(query)).toMatchObject({
      outcome: 'verdict',
      verdict: { found: true, trackIds: [{ trackId, status: 'Aceptado' }] },
    });
    expect(await client.queryTrackIds({ ...query, encf: 'E310000000999' })).toMatchObject({
      outcome: 'verdict',
      verdict: { found: false, trackIds: [] },
    });
    expect(await control(`submissions?encf=${encf}`)).toMatchObject([
      { operation: 'recepcion', filename: `${ISSUER}${encf}.xml`, track_id: trackId, answered: true },
    ]);
  });

  it('gets the rejection of a used number', async () => {
    await submitAndQuery('E310000000012');
    const { result } = await submitAndQuery('E310000000012');
    expect(result).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Rechazado', code: '2', sequenceUsed: false, messages: [{ codigo: '1209' }] },
    });
  });

  it('accepts no verdict with the trackId of another document', async () => {
    const { trackId, result } = await submitAndQuery('E310000000015');
    expect(result).toMatchObject({ outcome: 'verdict', verdict: { status: 'Aceptado' } });
    const query = { env, token, trackId, issuerRnc: ISSUER, encf: 'E310000000016' } as const;
    for (const other of [query, { ...query, encf: 'E310000000015', issuerRnc: BUYER }])
      expect(await client.queryResult(other)).toMatchObject({
        outcome: 'unknown',
        cause: 'another_document',
        detail: expect.stringMatching(
          /^the answer is about another document: (eNCF "E310000000015"|issuer "\d+"), not /,
        ),
      });
  });

  it('submits a consumer summary and queries it', async () => {
    const encf = 'E320000000011';
    const full = await invoice(encf);
    const tree = example('ecf-32', (text) => text.replace('E320000000001', encf));
    const code = securityCode(full.signatureValue);
    const { xml } = await signed(deriveRfce(tree, code));
    const input = { env, token, issuerRnc: ISSUER, encf } as const;
    const answer = await client.submitConsumerSummary({ ...input, xml });
    expect(answer).toMatchObject({ outcome: 'verdict', verdict: { status: 'Aceptado', code: '1', encf } });
    expect(await client.queryConsumerSummary({ ...input, securityCode: code })).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Aceptado', encf, rnc: ISSUER },
    });
    expect(await client.submitConsumerSummary({ ...input, xml })).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Rechazado' },
    });
  });

  it('gives its copy of a commercial approval, once', async () => {
    const encf = 'E310000000013';
    await submitAndQuery(encf);
    const { xml } = await signed(example('acecf', (text) => text.replace('E310000000001', encf)));
    const input = { env, token, buyerRnc: BUYER, encf, xml } as const;
    expect(await client.submitCommercialApproval(input)).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Aceptado', code: '1' },
    });
    expect(await client.submitCommercialApproval(input)).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Rechazado', alreadyAccepted: true },
    });
  });

  it('annuls ranges', async () => {
    const { xml } = await signed(example('anecf'));
    const input = { env, token, issuerRnc: ISSUER, xml } as const;
    expect(await client.submitCancellation(input)).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Aceptado', rnc: ISSUER },
    });
    expect(await client.submitCancellation({ ...input, env: 'CerteCF' })).toMatchObject({
      outcome: 'refused',
      code: 'service_not_in_environment',
    });
  });

  it('reads the directory and the status services', async () => {
    await control(`taxpayers/${BUYER}`, 'PUT', {
      name: 'Taller Caoba Imaginario, SRL',
      active: true,
      electronic: true,
      reception_url: 'https://ecf.example.do/base',
      approval_url: 'https://ecf.example.do/base',
      authentication_url: null,
    });
    const production = (await tokens.get({ env: 'eCF', account: 'a', rnc: '131000001', certificate })).token;
    const entry = { rnc: BUYER, receptionUrl: 'https://ecf.example.do/base', authenticationUrl: null };
    expect(await client.findInDirectory({ env: 'eCF', token: production, rnc: BUYER })).toMatchObject({
      outcome: 'verdict',
      verdict: entry,
    });
    expect(await client.findInDirectory({ env: 'eCF', token: production, rnc: '101000000' })).toMatchObject({
      outcome: 'verdict',
      verdict: null,
    });
    expect(await client.listDirectory({ env: 'eCF', token: production })).toMatchObject({
      outcome: 'verdict',
      verdict: expect.arrayContaining([expect.objectContaining(entry)]),
    });
    const status = { env, statusKey: 'status-key-1' } as const;
    expect(await client.serviceStatus(status)).toMatchObject({
      outcome: 'verdict',
      verdict: expect.arrayContaining([expect.objectContaining({ service: 'Autenticación', available: true })]),
    });
    expect(await client.maintenanceWindows(status)).toMatchObject({ outcome: 'verdict' });
    expect(await client.environmentStatus(status)).toMatchObject({ outcome: 'verdict', verdict: { available: true } });
    expect((await client.serviceStatus({ env, statusKey: 'another-key' })).outcome).toBe('unauthorized');
  });

  it('delivers to the counterpart, which answers with an acknowledgement', async () => {
    const encf = 'E310000000014';
    const { xml } = await invoice(encf);
    const receivers = createReceiverClient({ userAgent: 'ecf-test/1', addressGuard: () => true, allowPlainHttp: true });
    const answer = await receivers.deliverDocument({
      baseUrl: `${simulator.url}/testecf/emisorreceptor`,
      token,
      issuerRnc: ISSUER,
      encf,
      xml,
    });
    receivers.close();
    expect(answer.outcome).toBe('verdict');
    if (answer.outcome === 'verdict') {
      expect(Buffer.from(answer.verdict.acknowledgement).toString()).toContain(`<eNCF>${encf}</eNCF>`);
    }
  });

  let next = 0;
  it.each([
    ['timeout', { outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe' }, false],
    ['timeout-after', { outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe' }, true],
    ['reset', { outcome: 'unknown', cause: 'connection', reachedAuthority: 'maybe' }, false],
    ['reset-after', { outcome: 'unknown', cause: 'connection', reachedAuthority: 'maybe' }, true],
    ['http', { outcome: 'unknown', cause: 'not_a_verdict', reachedAuthority: 'maybe' }, false],
  ])('says no verdict where %s leaves none, and finds out by asking', async (kind, expected, arrived) => {
    next += 1;
    const encf = `E31000000010${next}`;
    const { xml } = await invoice(encf);
    const page = kind === 'http' ? { status: 400, body: '<html>ERROR:</html>' } : {};
    await control('faults', 'POST', { operation: 'recepcion', kind, times: 1, ...page });
    const input = { env, token, issuerRnc: ISSUER, encf } as const;
    expect(await client.submitDocument({ ...input, xml })).toMatchObject(expected);
    expect(await client.queryTrackIds(input)).toMatchObject({ outcome: 'verdict', verdict: { found: arrived } });
  });
});
