import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatSignatureDateTime } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import { certificate } from './world.js';

/** A request that reached a receiver. */
export interface Reached {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The whole body, byte for byte as latin1. */
  readonly body: string;
  readonly filename: string | undefined;
  readonly encf: string;
}

export type Answering = (res: ServerResponse, reached: Reached, buyer: BuyerReceiver) => void | Promise<void>;

interface Said {
  issuerRnc?: string;
  buyerRnc?: string;
  encf?: string;
  motive?: number;
  /** FechaHoraAcuseRecibo; by default now. */
  at?: string;
  signer?: SigningCertificate;
}

/** A buyer's receiver: a real HTTP server with the answers of a test. */
export class BuyerReceiver {
  readonly reached: Reached[] = [];
  /** The bodies of its answers to deliveries, in turn. */
  readonly answered: Buffer[] = [];
  /** One answer for each delivery, in order; afterwards `usually`. */
  answers: Answering[] = [];
  usually: Answering = received;
  /** Numbers that it acknowledged with Estado 0. */
  readonly ledger = new Set<string>();
  /** Set if the receiver offers authentication. */
  token: string | null = null;
  seeds = 0;
  /** Number of connections opened to it. */
  connections = 0;
  /** The certificate whose login it refuses. */
  bars: SigningCertificate | null = null;

  private constructor(
    readonly rnc: string,
    private readonly server: Server,
  ) {}

  static async start(rnc: string): Promise<BuyerReceiver> {
    const server = createServer();
    const buyer = new BuyerReceiver(rnc, server);
    server.on('connection', () => {
      buyer.connections += 1;
    });
    server.on('request', (req, res) => void buyer.#take(req, res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return buyer;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/base`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Deliveries that it received. */
  get deliveries(): Reached[] {
    return this.reached.filter(({ path }) => path.endsWith('/fe/recepcion/api/ecf'));
  }

  async acknowledgement(reached: Reached, said: Said = {}): Promise<string> {
    const { motive } = said;
    const tree = {
      ARECF: {
        DetalleAcusedeRecibo: {
          Version: '1.0',
          RNCEmisor: said.issuerRnc ?? element(reached.body, 'RNCEmisor'),
          RNCComprador: said.buyerRnc ?? this.rnc,
          eNCF: said.encf ?? reached.encf,
          Estado: motive === undefined ? '0' : '1',
          ...(motive === undefined ? {} : { CodigoMotivoNoRecibido: String(motive) }),
          FechaHoraAcuseRecibo: said.at ?? formatSignatureDateTime(new Date()),
        },
      },
    };
    return (await signXml(writeXml(tree), said.signer ?? certificate)).xml;
  }

  async #take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('latin1');
    const filename = /filename="?([^"\r\n;]+)/.exec(body)?.[1];
    const reached = { path: req.url ?? '', headers: req.headers, body, filename, encf: element(body, 'eNCF') };
    this.reached.push(reached);
    if (reached.path.endsWith('/semilla')) {
      this.seeds += 1;
      const seed = `<SemillaModel><valor>s${this.seeds}</valor><fecha>2026-06-23T17:45:47-04:00</fecha></SemillaModel>`;
      return void res.setHeader('content-type', 'application/xml').end(seed);
    }
    if (reached.path.endsWith('/validacioncertificado')) {
      if (this.bars !== null && body.includes(this.bars.certificate)) return void res.writeHead(400).end('not you');
      const issued = { token: this.token, expira: '2099-01-01T00:00:00Z', expedido: '2098-12-31T23:00:00Z' };
      return void res.setHeader('content-type', 'application/json').end(JSON.stringify(issued));
    }
    if (this.token !== null && req.headers.authorization !== `Bearer ${this.token}`)
      return void res.writeHead(401).end();
    const end = res.end.bind(res) as (body?: string | Buffer) => ServerResponse;
    res.end = ((sent: string | Buffer = '') => {
      this.answered.push(Buffer.from(sent));
      return end(sent);
    }) as typeof res.end;
    await (this.answers.shift() ?? this.usually)(res, reached, this);
  }
}

/** The answer of a correct receiver: Estado 0, to a repeat motive 3. */
export const received: Answering = async (res, reached, buyer) => {
  const known = buyer.ledger.has(reached.encf);
  buyer.ledger.add(reached.encf);
  xml(res, await buyer.acknowledgement(reached, known ? { motive: 3 } : {}));
};

/** Takes the document and closes the connection without an answer. */
export const lost: Answering = (res, reached, buyer) => {
  buyer.ledger.add(reached.encf);
  res.destroy();
};

export const saying =
  (said: Said): Answering =>
  async (res, reached, buyer) =>
    xml(res, await buyer.acknowledgement(reached, said));

export const status =
  (code: number, body = '', headers: Record<string, string> = {}): Answering =>
  (res) =>
    void res.writeHead(code, headers).end(body);

export function xml(res: ServerResponse, text: string): void {
  res.setHeader('content-type', 'text/xml').end(text);
}

function element(text: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1] ?? '';
}
