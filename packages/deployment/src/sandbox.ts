import { randomBytes } from 'node:crypto';
import { type CertificateAuthority, createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import type { DataFolder } from './data-folder.js';

/** The two taxpayers of the ready-made sandbox: each is the other's counterparty. */
export const DEMO_ISSUER = {
  rnc: '199999991',
  name: 'Comercial Palma Ficticia, SRL',
  holderId: '00100000009',
} as const;
export const DEMO_BUYER = { rnc: '188888885', name: 'Taller Caoba Imaginario, SRL', holderId: '00200000008' } as const;

const ACCOUNT_NAME = 'Sandbox';
const CERTIFICATE_YEARS = 5;
/** Early enough for sample documents of past years to have been signed within the certificate's dates. */
const DEMO_CERTIFICATES_FROM = new Date('2019-01-01T00:00:00-04:00');

/** The facts of the deployment that the sandbox needs. */
export interface SandboxOptions {
  gatewayUrl: string;
  adminUrl: string;
  adminToken: string;
  simulatorUrl: string;
  folder: DataFolder;
  now: Date;
}

/** Creates the missing parts of the demo account, its taxpayers, certificates and key; safe to repeat after a crash. */
export async function prepareSandbox(options: SandboxOptions): Promise<{ apiKey: string; created: boolean }> {
  const admin = adminClient(options.adminUrl, options.adminToken);
  const accounts = (await admin('GET', '/admin/accounts')) as { id: string; name: string }[];
  const known = accounts.find((account) => account.name === ACCOUNT_NAME);
  const account = known ?? ((await admin('POST', '/admin/accounts', { name: ACCOUNT_NAME })) as { id: string });
  const base = `/admin/accounts/${account.id}`;

  const taxpayers = (await admin('GET', `${base}/taxpayers`)) as { rnc: string; certificate: unknown }[];
  let testAuthority: CertificateAuthority | undefined;
  for (const taxpayer of [DEMO_ISSUER, DEMO_BUYER]) {
    const present = taxpayers.find((one) => one.rnc === taxpayer.rnc);
    if (!present) await admin('POST', `${base}/taxpayers`, { rnc: taxpayer.rnc, name: taxpayer.name });
    if (present?.certificate) continue;
    const password = randomBytes(12).toString('hex');
    testAuthority ??= createCertificateAuthority({ commonName: 'Sandbox test authority' });
    const { p12 } = testAuthority.issue({
      commonName: `Representante de ${taxpayer.name}`,
      holderId: taxpayer.holderId,
      rnc: taxpayer.rnc,
      notBefore: DEMO_CERTIFICATES_FROM,
      notAfter: new Date(options.now.getTime() + CERTIFICATE_YEARS * 365 * 24 * 3600 * 1000),
      password,
    });
    const form = new FormData();
    form.set('certificate', new Blob([new Uint8Array(p12)]), `${taxpayer.rnc}.p12`);
    form.set('password', password);
    await admin('PUT', `${base}/taxpayers/${taxpayer.rnc}/certificate`, form);
  }

  await registerAtSimulator(options);
  const earlier = known ? options.folder.demo()?.api_key : undefined;
  if (earlier) return { apiKey: earlier, created: false };
  const key = (await admin('POST', `${base}/api-keys`, {
    name: 'sandbox',
    environments: ['TesteCF', 'CerteCF'],
  })) as { key: string };
  return { apiKey: key.key, created: known === undefined };
}

/** Registers the addresses of the demo taxpayers in the simulator's directory; the gateway's port may change. */
async function registerAtSimulator({ simulatorUrl, gatewayUrl }: SandboxOptions): Promise<void> {
  for (const taxpayer of [DEMO_ISSUER, DEMO_BUYER]) {
    const answer = await fetch(`${simulatorUrl}/_control/taxpayers/${taxpayer.rnc}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: taxpayer.name,
        active: true,
        electronic: true,
        reception_url: gatewayUrl,
        approval_url: gatewayUrl,
        authentication_url: gatewayUrl,
      }),
    });
    if (!answer.ok) throw new Error(`The simulator refused the demo taxpayer ${taxpayer.rnc}: ${await answer.text()}`);
  }
}

function adminClient(baseUrl: string, token: string) {
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const json = body !== undefined && !(body instanceof FormData);
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(json ? { 'content-type': 'application/json' } : {}) },
      ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : (body as FormData) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Preparing the sandbox: ${method} ${path} answered ${answer.status}: ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
}
