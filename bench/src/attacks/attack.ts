import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Demo } from '@ecf/test-servers/deployment';

/** What an attack is given. */
export interface Stage {
  readonly demo: Demo;
  /** Share of the full sizes and counts; 1 for a measurement. */
  readonly scale: number;
  /** Aborted when no further request shall begin. */
  readonly enough: AbortSignal;
  /** Aborted when requests without an answer are dropped. */
  readonly end: AbortSignal;
  /** The next invoice of the attacker, as JSON. */
  nextDocument(): string;
  /** Counts an answer that the attacker got. */
  count(answer: string): void;
}

/** The calls of the account that works beside the attack. */
export type Neighbour = 'lists' | 'submits';

export interface Attack {
  /** As in `BENCH_ATTACKS`. */
  readonly letter: string;
  readonly name: string;
  readonly neighbour: Neighbour;
  /** Resolves soon after `stage.end`, or earlier. */
  run(stage: Stage): Promise<void>;
}

const NO_ANSWER = 'no answer';

/** Runs a request again and again in a number of loops, until it is enough; counts the answers. */
export async function repeatedly(stage: Stage, callers: number, send: () => Promise<string>): Promise<void> {
  const caller = async () => {
    while (!stage.enough.aborted) stage.count(await send());
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/**
 * Sends a request over its own connection.
 *
 * @param head request line and headers without `Host`
 * @param write sends the body; without it the body is empty
 * @returns status and code of the answer, or why there is none
 */
export function exchange(stage: Stage, head: string, write?: (socket: Socket) => unknown): Promise<string> {
  if (stage.end.aborted) return Promise.resolve(NO_ANSWER);
  const { hostname, port } = new URL(stage.demo.base_url);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    let text = '';
    let failure = NO_ANSWER;
    const drop = () => socket.destroy();
    stage.end.addEventListener('abort', drop, { once: true });
    socket.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.code ?? error.message;
    });
    socket.once('close', () => {
      stage.end.removeEventListener('abort', drop);
      resolve(text === '' ? failure : answerIn(text));
    });
    socket.write(`${head}\r\nHost: bench\r\nConnection: close\r\n\r\n`);
    write?.(socket);
  });
}

/** The same with a body of a known length. */
export function send(stage: Stage, head: string, body: Buffer): Promise<string> {
  return exchange(stage, `${head}\r\nContent-Length: ${body.length}`, (socket) => socket.write(body));
}

/** Writes a piece many times, as fast as the connection accepts it. */
export async function writeMany(socket: Socket, piece: Buffer, times: number): Promise<void> {
  for (let left = times; left > 0 && !socket.destroyed; left -= 1) {
    // A connection that the other side cuts ends the loop; its listener in `exchange` has the reason.
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
  }
}

const BOUNDARY = 'form-of-the-attacker';

/** Request line and headers of `/fe_Submit` with the attacker's key. */
export function submitHead({ demo }: Stage): string {
  return `POST /fe_Submit HTTP/1.1\r\nx-api-key: ${demo.api_key}\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}`;
}

/** A form with these parts. */
export function form(parts: Readonly<Record<string, string | Buffer>>): Buffer {
  const pieces = Object.entries(parts).flatMap(([name, content]) => [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`,
    typeof content === 'string' ? '' : `; filename="${name}"\r\nContent-Type: application/octet-stream`,
    '\r\n\r\n',
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

function answerIn(text: string): string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'no HTTP';
  return `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim();
}
