import type { KeyObject } from 'node:crypto';
import { testKey } from '@ecf/test-support';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import type { Standalone } from './deployment/standalone-process.js';

/** An answer with its body read. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are whatever the interface answers; tests look into them
  body: any;
}

/** A submission in the simulator's ledger. */
export interface LedgerRow {
  id: string;
  operation: string;
  sha256: string;
  track_id: string | null;
  status: string;
  effective: boolean;
  answered: boolean;
}

const answers: { place: string; answer: Answer }[] = [];
const secrets = new Set<string>();

/** Every answer of the gateway so far, with its call. */
export const answersSeen = (): readonly { place: string; answer: Answer }[] => answers;

/** Every key, token and password so far; the tests check that none leaks. */
export const secretsSeen = (): string[] => [...secrets];

/** Calls the public interface as an ERP or an administrator does. */
export class Client {
  constructor(
    private readonly standalone: Standalone,
    readonly apiKey = standalone.demo.api_key,
  ) {}

  async call(
    method: string,
    path: string,
    init: { headers?: Record<string, string>; body?: BodyInit } = {},
  ): Promise<Answer> {
    const answer = await read(
      await fetch(`${this.standalone.demo.base_url}${path}`, {
        method,
        headers: { 'x-api-key': this.apiKey, ...init.headers },
        ...(init.body === undefined ? {} : { body: init.body, duplex: 'half' }),
      } as RequestInit),
    );
    answers.push({ place: `${method} ${path}`, answer });
    return answer;
  }

  /** `POST /fe_Submit` with the invoice in the part `data`. */
  submit(invoice: object | string, headers: Record<string, string> = {}, query = '') {
    const form = new FormData();
    form.set('data', typeof invoice === 'string' ? invoice : JSON.stringify(invoice));
    return this.call('POST', `/fe_Submit${query}`, { headers, body: form });
  }

  /** `POST /fe_Submit` with a certificate file of the caller. */
  submitWith(invoice: object, file: { p12: Uint8Array; password: string }, query = '') {
    const form = new FormData();
    form.set('data', JSON.stringify(invoice));
    form.set('certificate', new Blob([new Uint8Array(file.p12)]), 'firma.p12');
    form.set('password', file.password);
    if (file.password.length > 8) secrets.add(file.password);
    return this.call('POST', `/fe_Submit${query}`, { body: form });
  }

  /** `POST /submit_ecf` or `/submit_fc`. */
  submitSigned(route: '/submit_ecf' | '/submit_fc', xml: string, token: string, headers: Record<string, string> = {}) {
    return this.call('POST', route, {
      headers: { 'content-type': 'application/json', 'x-token': token, ...headers },
      body: JSON.stringify({ xml }),
    });
  }

  /** The authority's token of the account. */
  async token(headers: Record<string, string> = {}): Promise<string> {
    const { status, body, text } = await this.call('GET', '/obtain_token', { headers });
    if (status !== 200) throw new Error(`no token: ${text}`);
    secrets.add(body.token);
    return body.token;
  }

  /** A JSON call of `/admin`. */
  async admin(method: string, path: string, body?: object | FormData): Promise<Answer> {
    const json = body !== undefined && !(body instanceof FormData);
    const answer = await read(
      await fetch(`${this.standalone.demo.base_url}/admin${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.standalone.demo.admin_token}`,
          ...(json ? { 'content-type': 'application/json' } : {}),
        },
        ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : (body as FormData) }),
      }),
    );
    answers.push({ place: `${method} /admin${path}`, answer });
    if (typeof answer.body?.key === 'string') secrets.add(answer.body.key);
    return answer;
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

  /** Submissions under a number that the authority received, oldest first. */
  async ledger(encf: string, rnc?: string): Promise<LedgerRow[]> {
    const issuer = rnc === undefined ? '' : `&rnc=${rnc}`;
    const { body } = await this.control('GET', `/submissions?encf=${encf}${issuer}`);
    return (body as LedgerRow[]).filter(({ operation }) => /^recepcion/.test(operation));
  }

  /** The bytes of a submission in the simulator's ledger. */
  async submittedXml(row: LedgerRow): Promise<string> {
    return (await this.control('GET', `/submissions/${row.id}/xml`)).text;
  }

  /** Makes the authority fail; resolves with a function that ends the fault. */
  async fault(fault: Record<string, unknown>): Promise<() => Promise<unknown>> {
    const { status, body, text } = await this.control('POST', '/faults', fault);
    if (status !== 200) throw new Error(text);
    return () => this.control('DELETE', `/faults/${body.id}`);
  }

  /** Repeats a call until its answer has the status; rejects with the last answer after the timeout. */
  async until(status: string, repeat: () => Promise<Answer>, withinMs = 60_000): Promise<Answer> {
    for (const end = Date.now() + withinMs; ; ) {
      const answer = await repeat();
      if (answer.body?.status === status) return answer;
      if (Date.now() > end) throw new Error(`not ${status} within ${withinMs} ms: ${answer.text}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: unknown = text;
  if (response.headers.get('content-type')?.includes('json')) body = text === '' ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, body };
}

const DAY = 86_400_000;
const authority = createCertificateAuthority({ key: testKey(1) });
/** The key of certificates that name no other. */
const privateKey = testKey(0);

/** A PKCS#12 file of the test authority for a holder. Days count from now. */
export function testCertificate(
  rnc: string,
  options: {
    holderId?: string;
    password?: string;
    validFromDays?: number;
    validToDays?: number;
    key?: KeyObject;
  } = {},
): { p12: Buffer; password: string; pem: string } {
  const { holderId = '00100000009', password = `clave-de-${rnc}`, validFromDays = -3_650, validToDays = 365 } = options;
  const file = authority.issue({
    commonName: `Representante de ${rnc}`,
    holderId,
    rnc,
    notBefore: new Date(Date.now() + validFromDays * DAY),
    notAfter: new Date(Date.now() + validToDays * DAY),
    password,
    key: options.key ?? privateKey,
  });
  secrets.add(file.password);
  for (const line of file.key.split('\n').slice(2, 4)) secrets.add(line);
  return file;
}

/** Creates an account with one taxpayer, its certificate and a key; resolves with a client for it. */
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
