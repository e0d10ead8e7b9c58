import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { type OptionValues, UsageError } from './options.js';
import { printable } from './output.js';

/** The administration of a gateway. */
export interface GatewayAdmin {
  /** The answer's body. Throws UsageError if the gateway cannot be reached or refuses. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
  /** The lines of an answer of any length (NDJSON). Throws UsageError as `call` does. */
  lines(path: string): AsyncIterable<string>;
}

/** The gateway was reached and refuses, for example the token. */
export class GatewayRefuses extends UsageError {}

const WAIT_MS = 30_000;

/**
 * The rows of a list, page after page: `name` is their name in an answer, whose `next` is the start of the next page. The
 * options --env and --issuer narrow it.
 */
export async function* rowsOf<Row>(
  admin: GatewayAdmin,
  path: string,
  name: string,
  { env, issuer }: OptionValues,
  parameters: Readonly<Record<string, string>>,
): AsyncGenerator<Row> {
  for (let after: number | null = 0; after !== null; ) {
    const query = new URLSearchParams({ ...parameters, after: String(after) });
    if (env !== undefined) query.set('env', String(env));
    if (issuer !== undefined) query.set('issuer_rnc', String(issuer));
    const page = (await admin.call('GET', `${path}?${query}`)) as Record<string, Row[]> & { next: number | null };
    yield* page[name] ?? [];
    after = page.next;
  }
}

/**
 * The gateway of ECF_URL and ADMIN_TOKEN; `demo.json` of the data folder supplies what is not set. The folder is --data-dir, else
 * DATA_DIR, else `.data`.
 */
export function openGatewayAdmin({
  'data-dir': dataDir = process.env.DATA_DIR ?? '.data',
}: OptionValues): GatewayAdmin {
  const { env } = process;
  const demo = env.ECF_URL && env.ADMIN_TOKEN ? {} : readDemo(String(dataDir));
  const url = env.ECF_URL || demo.admin_url || demo.base_url;
  const token = env.ADMIN_TOKEN || demo.admin_token;
  if (!url || !token)
    throw new UsageError('say where the gateway is: set ECF_URL and ADMIN_TOKEN, or name its data folder.');
  const authorization = `Bearer ${token}`;
  return {
    async *lines(path) {
      const headers = { authorization, accept: 'application/x-ndjson' };
      const response = await fetch(new URL(path, url), { headers, redirect: 'manual' }).catch((cause) => {
        throw new UsageError(`the gateway at ${url} cannot be reached.`, { cause });
      });
      if (!response.ok || response.body === null) throw new GatewayRefuses(refusalOf(response, await response.text()));
      yield* createInterface({ input: Readable.fromWeb(response.body as ReadableStream) });
    },
    async call(method, path, body) {
      let response: Response;
      let text: string;
      try {
        response = await fetch(new URL(path, url), {
          method,
          headers: { authorization, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(WAIT_MS),
          redirect: 'manual',
        });
        text = await response.text();
      } catch (cause) {
        throw new UsageError(`the gateway at ${url} cannot be reached.`, { cause });
      }
      if (!response.ok) throw new GatewayRefuses(refusalOf(response, text));
      return parsedAnswer(text);
    },
  };
}

/** What `demo.json` of a sandbox's data folder says; empty without one. */
export function readDemo(folder: string): {
  base_url?: string;
  admin_url?: string;
  admin_token?: string;
  api_key?: string;
  authority_url?: string;
} {
  try {
    return JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
  } catch {
    return {};
  }
}

/**
 * What an answer of the gateway says.
 *
 * @throws UsageError if it is not JSON, because another server answered
 */
export function parsedAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const what = isPage(text) ? `a web page${titleOf(text)}` : 'not JSON';
    throw new UsageError(
      `the answer is ${what}, so ECF_URL is not the address of a gateway, or a proxy answers in its place.`,
      { cause },
    );
  }
}

/** Why the gateway, or a proxy before it, did not do what was requested, as a sentence. */
export function refusalOf({ status, headers }: Response, text: string): string {
  const target = headers.get('location');
  if (status >= 300 && status < 400)
    return `ECF_URL answered ${status}, a redirect${target === null ? '' : ` to ${printable(target.slice(0, 200))}`}. Set ECF_URL to the address of the gateway itself.`;
  if (isPage(text))
    return `a proxy answered ${status} with a web page${titleOf(text)} in place of the gateway. Check ECF_URL, and that the gateway runs.`;
  let message: unknown;
  try {
    message = (JSON.parse(text) as { message?: unknown } | null)?.message;
  } catch {
    message = undefined;
  }
  const reason = typeof message === 'string' ? message : text.slice(0, 200) || 'it gives no reason.';
  return `the gateway answered ${status}: ${printable(reason)}`;
}

function isPage(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/** ` ("502 Bad Gateway")`, or nothing. */
function titleOf(page: string): string {
  const start = page.slice(0, 10_000);
  const from = start.search(/<title>/i);
  const title = from < 0 ? '' : (start.slice(from + '<title>'.length).split('<')[0] ?? '').trim().slice(0, 100);
  return title === '' ? '' : ` ("${printable(title)}")`;
}
