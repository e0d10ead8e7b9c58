import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Attack, form, type Stage, send, submitHead } from './attack.js';

/** The buyer of the attacker's invoices. */
const BUYER = '131999999';
/** 1 MB. */
const TOKEN = 'eyJ';
const TIMES = 349_525;

/** The receiver gives a genuine seed, and answers the login with a text that begins a token again and again. */
export const RECEIVER: Attack = {
  letter: 'a',
  name: "a receiver's login answers 1 MB of eyJeyJ...",
  neighbour: 'submits',
  async run(stage) {
    const body = TOKEN.repeat(TIMES * stage.scale);
    const server = http.createServer((req, res) => void answer(stage, body, req, res)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await register(stage, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      stage.count(await send(stage, submitHead(stage), form({ data: stage.nextDocument() })));
      if (!stage.end.aborted) await once(stage.end, 'abort');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
};

/** What the deployment asks of the receiver is counted beside the answers to the attacker. */
async function answer(stage: Stage, body: string, req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
  const path = new URL(req.url ?? '/', 'http://receiver').pathname;
  stage.count(`asked for ${path.split('/').at(-1)}`);
  req.resume();
  if (path.toLowerCase().endsWith('/validacioncertificado') || path.toLowerCase().endsWith('/validarsemilla')) {
    res.writeHead(200, { 'content-type': 'application/json' }).end(body);
    return;
  }
  if (!path.toLowerCase().endsWith('/semilla')) {
    res.writeHead(404).end();
    return;
  }
  try {
    const seed = await fetch(`${stage.demo.base_url}${path}`, { signal: stage.end });
    res.writeHead(200, { 'content-type': 'application/xml' }).end(await seed.text());
  } catch {
    res.destroy();
  }
}

async function register({ demo, end }: Stage, url: string): Promise<void> {
  const answer = await fetch(`${demo.authority_url}/_control/taxpayers/${BUYER}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'DISTRIBUIDORA LA LOMA SRL',
      active: true,
      electronic: true,
      reception_url: url,
      approval_url: url,
      authentication_url: url,
    }),
    signal: end,
  });
  if (!answer.ok) throw new Error(await answer.text());
}
