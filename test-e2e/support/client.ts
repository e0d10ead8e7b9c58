import { createTestAuthority } from '@ecf/xml-signing/test-certificates';
import type { Standalone } from './standalone-process.js';

/** An answer with its body read. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are whatever the interface answers; tests look into them
  body: any;
}

/** Calls of the public interface, as an ERP or an administrator would make them. */
export class Client {
  constructor(
    private readonly standalone: Standalone,
    readonly apiKey = standalone.demo.api_key,
  ) {}

  async call(method: string, path: string, init: { headers?: Record<string, string>; body?: BodyInit } = {}) {
    return read(
      await fetch(`${this.standalone.demo.base_url}${path}`, {
        method,
        headers: { 'x-api-key': this.apiKey, ...init.headers },
        ...(init.body === undefined ? {} : { body: init.body }),
      }),
    );
  }

  /** `POST /fe_Submit` with the invoice in the part `data`. */
  submit(invoice: object | string, headers: Record<string, string> = {}, query = '') {
    const form = new FormData();
    form.set('data', typeof invoice === 'string' ? invoice : JSON.stringify(invoice));
    return this.call('POST', `/fe_Submit${query}`, { headers, body: form });
  }

  /** A JSON call of `/admin`. */
  async admin(method: string, path: string, body?: object | FormData): Promise<Answer> {
    const json = body !== undefined && !(body instanceof FormData);
    return read(
      await fetch(`${this.standalone.demo.base_url}/admin${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.standalone.demo.admin_token}`,
          ...(json ? { 'content-type': 'application/json' } : {}),
        },
        ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : (body as FormData) }),
      }),
    );
  }

  /** The simulator's control interface. */
  async control(method: string, path: string, body?: object): Promise<Answer> {
    return read(
      await fetch(`${this.standalone.demo.authority_url}/_control${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  }
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: unknown = text;
  if (response.headers.get('content-type')?.includes('json')) body = text === '' ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, body };
}

const DAY = 86_400_000;
const authority = createTestAuthority();

/** A PKCS#12 file of the test authority for a holder. */
export function testCertificate(rnc: string, password = 'clave-de-prueba', validFromDays = -1, validToDays = 365) {
  return authority.issue({
    commonName: `Representante de ${rnc}`,
    holderId: '00100000009',
    rnc,
    notBefore: new Date(Date.now() + validFromDays * DAY),
    notAfter: new Date(Date.now() + validToDays * DAY),
    password,
  });
}

/** A new account with one taxpayer, its certificate and a key; resolves with a client that acts for it. */
export async function newAccount(
  standalone: Standalone,
  taxpayer: { rnc: string; name: string },
  options: { certificate?: boolean; environments?: string[] } = {},
): Promise<Client & { accountId: string }> {
  const root = new Client(standalone);
  const accountId = (await root.admin('POST', '/accounts', { name: `Account of ${taxpayer.name}` })).body.id as string;
  const created = await root.admin('POST', `/accounts/${accountId}/taxpayers`, taxpayer);
  if (created.status !== 201) throw new Error(created.text);
  if (options.certificate !== false) {
    const uploaded = await uploadCertificate(root, accountId, taxpayer.rnc);
    if (uploaded.status !== 200) throw new Error(uploaded.text);
  }
  const key = await root.admin('POST', `/accounts/${accountId}/api-keys`, {
    name: 'test',
    environments: options.environments ?? ['TesteCF', 'CerteCF'],
  });
  return Object.assign(new Client(standalone, key.body.key as string), { accountId });
}

/** Uploads a certificate file for a taxpayer. */
export function uploadCertificate(
  client: Client,
  accountId: string,
  rnc: string,
  file: { p12: Buffer; password: string } = testCertificate(rnc),
): Promise<Answer> {
  const form = new FormData();
  form.set('certificate', new Blob([new Uint8Array(file.p12)]), 'certificate.p12');
  form.set('password', file.password);
  return client.admin('PUT', `/accounts/${accountId}/taxpayers/${rnc}/certificate`, form);
}
