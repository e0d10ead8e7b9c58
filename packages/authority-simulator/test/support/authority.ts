import type { IssuedCertificate } from '@ecf/xml-signing/certificate-authority';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/index.js';
import { call, type Json, multipart, type Reply, type Request } from './http.js';
import { certificate, sign } from './signing.js';

/** A simulator with a clock that only tests move, and a caller that writes HTTP by hand. */
export class Authority {
  now = new Date('2026-06-23T21:45:47.000Z');
  readonly #tokens = new Map<string, string>();
  #simulator: Simulator | null = null;

  private constructor(readonly options: SimulatorOptions) {}

  static async start(options: SimulatorOptions = {}): Promise<Authority> {
    const authority = new Authority(options);
    await authority.restart();
    return authority;
  }

  async restart(): Promise<void> {
    await this.#simulator?.stop();
    this.#simulator = await startSimulator({ processingMs: 0, clock: () => this.now, ...this.options });
  }

  async stop(): Promise<void> {
    await this.#simulator?.stop();
  }

  get url(): string {
    return this.#simulator?.url ?? '';
  }

  pass(ms: number): void {
    this.now = new Date(this.now.getTime() + ms);
  }

  call(path: string, request: Request = {}): Promise<Reply> {
    return call(this.url + path, request);
  }

  /** Logs in by hand: seed, signature, token. */
  async token(env = 'testecf', holder: IssuedCertificate = certificate()): Promise<string> {
    const key = `${env}|${holder.pem}`;
    const known = this.#tokens.get(key);
    if (known) return known;
    const reply = await this.logIn(env, await this.signedSeed(env, holder));
    const token = String(reply.json().token);
    this.#tokens.set(key, token);
    return token;
  }

  async signedSeed(env: string, holder: IssuedCertificate = certificate()): Promise<string> {
    const seed = (await this.call(`/${env}/autenticacion/api/autenticacion/semilla`)).text;
    const compact = seed.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><');
    const sorted = compact.replace(
      /<SemillaModel [^>]*>/,
      '<SemillaModel xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
    );
    return sign(sorted, holder);
  }

  logIn(env: string, xml: string): Promise<Reply> {
    return this.call(`/${env}/autenticacion/api/autenticacion/validarsemilla`, multipart(xml, 'semilla.xml'));
  }

  async get(path: string, env = 'testecf', headers: Record<string, string> = {}): Promise<Reply> {
    const authorization = `Bearer ${await this.token(env)}`;
    return this.call(`/${env}/${path}`, { headers: { Authorization: authorization, ...headers } });
  }

  async post(path: string, xml: string | Buffer, filename: string, env = 'testecf', headers = {}): Promise<Reply> {
    const upload = multipart(xml, filename);
    const authorization = `bearer ${await this.token(env)}`;
    return this.call(`/${env}/${path}`, {
      ...upload,
      headers: { ...upload.headers, Authorization: authorization, ...headers },
    });
  }

  /** Submits a signed e-CF with its file name; returns the trackId. */
  async send(xml: string | Buffer, env = 'testecf', filename = nameOf(xml)): Promise<string> {
    const reply = await this.post('recepcion/api/facturaselectronicas', xml, filename, env);
    return String(reply.json().trackId);
  }

  async result(trackId: string, env = 'testecf'): Promise<Json> {
    return (await this.get(`consultaresultado/api/consultas/estado?trackid=${trackId}`, env)).json();
  }

  /** Signs an unsigned e-CF with the shared certificate and submits it; returns the result. */
  async check(unsigned: string, env = 'testecf', holder = certificate()): Promise<Json> {
    const xml = sign(unsigned, holder);
    return this.result(await this.send(xml, env), env);
  }

  sendSummary(xml: string, env = 'testecf', filename = nameOf(xml)): Promise<Reply> {
    return this.post('recepcionfc/api/recepcion/ecf', xml, filename, env);
  }

  control(method: string, path: string, body?: unknown): Promise<Reply> {
    return this.call(`/_control/${path}`, {
      method,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  async submissions(query = ''): Promise<Json[]> {
    return (await this.control('GET', `submissions${query}`)).json();
  }

  async fault(fault: Record<string, unknown>): Promise<string> {
    return (await this.control('POST', 'faults', fault)).json().id;
  }
}

export function nameOf(xml: string | Buffer): string {
  const text = xml.toString();
  const rnc = /<R(?:NC|nc)Emisor>([^<]*)</.exec(text)?.[1];
  return `${rnc}${/<eNCF>([^<]*)</.exec(text)?.[1]}.xml`;
}
