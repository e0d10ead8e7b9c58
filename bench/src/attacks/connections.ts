// Slow, split and waiting requests: the cost lies in the connection, not in what is sent.
import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, exchange, form, repeatedly, type Stage, submitHead, writeMany } from './attack.js';

const TRICKLES = 1_000;
const UPLOADS = 60;
const UPLOADED = 10_400_000;
const POLLS = 3_000;

export const CONNECTIONS: readonly Attack[] = [
  { letter: 'd', name: '/fe_Submit, 1 MB in chunks of one byte', neighbour: 'lists', run: tinyChunks(1_000_000, 4) },
  { letter: 'd', name: '/fe_Submit, 10 MB in chunks of one byte', neighbour: 'lists', run: tinyChunks(10_000_000, 1) },
  { letter: 'e', name: '1,000 bodies of one key trickle on /fe_Submit', neighbour: 'submits', run: trickle },
  { letter: 'f', name: '60 anonymous uploads of 10 MB without their end', neighbour: 'submits', run: halfOpen },
  { letter: 'g', name: '3,000 long polls of one key', neighbour: 'lists', run: longPolls },
];

/** A form whose every byte is a chunk. */
function tinyChunks(bytes: number, callers: number) {
  return async (stage: Stage): Promise<void> => {
    const chunk = (text: Buffer) => Buffer.concat([...text].map((byte) => Buffer.from([0x31, 13, 10, byte, 13, 10])));
    const document = form({ data: '@' }).toString('latin1');
    const [start, rest] = document.split('@').map((text) => chunk(Buffer.from(text))) as [Buffer, Buffer];
    const thousand = Buffer.from('1\r\n \r\n'.repeat(1_000));
    const times = Math.ceil((bytes * stage.scale) / 1_000);
    await repeatedly(stage, callers, () =>
      exchange(stage, `${submitHead(stage)}\r\nTransfer-Encoding: chunked`, async (socket) => {
        socket.write(start);
        await writeMany(socket, thousand, times);
        socket.write(Buffer.concat([rest, Buffer.from('0\r\n\r\n')]));
      }),
    );
  };
}

/** Each connection sends ten bytes a second of an announced body. */
async function trickle(stage: Stage): Promise<void> {
  const head = `${submitHead(stage)}\r\nContent-Length: 100000`;
  await many(stage, TRICKLES, () =>
    exchange(stage, head, async (socket) => {
      while (!socket.destroyed) {
        socket.write('          ');
        await delay(1_000, undefined, { ref: false });
      }
    }),
  );
}

/** Each connection sends all bytes but the last, and keeps the connection open. */
async function halfOpen(stage: Stage): Promise<void> {
  const head = `POST /fe/recepcion/api/ecf HTTP/1.1\r\nContent-Type: text/xml\r\nContent-Length: ${UPLOADED}`;
  const most = Buffer.alloc(UPLOADED - 1, 0x20);
  await many(stage, UPLOADS, () => exchange(stage, head, (socket) => socket.write(most)));
}

async function longPolls(stage: Stage): Promise<void> {
  const { base_url, api_key } = stage.demo;
  let after = '';
  for (let length = 1; length > 0; ) {
    const answer = await fetch(`${base_url}/events${after}`, { headers: { 'x-api-key': api_key }, signal: stage.end });
    const page = (await answer.json()) as { events: unknown[]; next: string };
    after = `?after=${page.next}`;
    length = page.events.length;
  }
  await many(stage, POLLS, () => exchange(stage, `GET /events${after}&wait=30 HTTP/1.1\r\nx-api-key: ${api_key}`));
}

/** Opens all connections, and holds them until the end of the attack. */
async function many(stage: Stage, count: number, open: () => Promise<string>): Promise<void> {
  const one = async () => stage.count(await open());
  await Promise.all(Array.from({ length: Math.ceil(count * stage.scale) }, one));
}
