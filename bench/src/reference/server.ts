// The reference of submit.bench as a program: a bare express route that does what no implementation can leave out: two
// durable transactions of one row each, one RSA-2048 signature, one submission of a document signed in advance.
import { sign as rsaSign } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { formatSignatureDateTime } from '@ecf/domain';
import { examineJson, writeXml } from '@ecf/ecf-xml';
import { signXml } from '@ecf/xml-signing';
import express from 'express';
import pg from 'pg';
import { certificate, encfOf, invoice, type Parties } from '../inputs/sample.js';
import { type Post, postByGot, postByNode, type ReadyBody } from './authority-calls.js';

/** The first message of the parent. */
export interface ReferenceSettings {
  databaseUrl: string;
  submissionUrl: string;
  token: string;
  parties: Parties;
  lines: number;
}

/** Requests documents that are signed in advance. */
export interface Prepare {
  prepare: number;
}

const own = certificate().certificate;
const rawSign = promisify(rsaSign) as (algorithm: string, data: Buffer, key: typeof own.privateKey) => Promise<Buffer>;
const ready: ReadyBody[] = [];
let last = 0;

process.once('message', (settings: ReferenceSettings) => {
  start(settings).catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  });
});
process.once('disconnect', () => process.exit(0));

async function start(settings: ReferenceSettings): Promise<void> {
  const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: 10 });
  await pool.query('CREATE TABLE document (id BIGSERIAL PRIMARY KEY, encf TEXT NOT NULL, body BYTEA NOT NULL)');
  await pool.query('CREATE TABLE verdict (id BIGSERIAL PRIMARY KEY, encf TEXT NOT NULL, answer TEXT NOT NULL)');
  const app = express();
  app.post('/got', route(pool, postByGot(settings.submissionUrl, settings.token)));
  app.post('/node', route(pool, postByNode(settings.submissionUrl, settings.token)));
  const server = app.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  process.on('message', async ({ prepare }: Prepare) => {
    while (ready.length < prepare) ready.push(await signedDocument(settings));
    process.send?.({ prepared: ready.length });
  });
}

function route(pool: pg.Pool, post: Post): express.RequestHandler {
  return async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const next = ready.pop();
    if (next === undefined) throw new Error('no document is left that was signed in advance');
    const signature = await rawSign('sha256', body, own.privateKey);
    const encf = signature.toString('hex', 0, 8);
    await pool.query({
      name: 'document',
      text: 'INSERT INTO document (encf, body) VALUES ($1, $2)',
      values: [encf, body],
    });
    const answer = await post(next);
    await pool.query({
      name: 'verdict',
      text: 'INSERT INTO verdict (encf, answer) VALUES ($1, $2)',
      values: [encf, answer],
    });
    res.json({ status: 'EnProceso', answer, signature: signature.toString('base64') });
  };
}

/** A signed document with its own number, as the body of its submission. */
async function signedDocument({ parties, lines }: ReferenceSettings): Promise<ReadyBody> {
  last += 1;
  const encf = encfOf(last);
  const document = invoice(encf, lines, parties) as { ECF: Record<string, unknown> };
  document.ECF.FechaHoraFirma = formatSignatureDateTime(new Date());
  const { tree, faults } = examineJson(document, { now: new Date() });
  if (tree === null || faults.length > 0) throw new Error(JSON.stringify(faults[0]));
  const { xml } = await signXml(writeXml(tree), own);
  const boundary = `reference-${encf}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="xml"; filename="${parties.issuer}${encf}.xml"\r\nContent-Type: text/xml\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${head}${xml}\r\n--${boundary}--\r\n`),
  };
}
