import http from 'node:http';
import got from 'got';

/** A document signed in advance, as the body of its submission. */
export interface ReadyBody {
  contentType: string;
  body: Buffer;
}

/** Posts a ready body and resolves with the answer's text. */
export type Post = (ready: ReadyBody) => Promise<string>;

/** One submission by got, with the options that a careful client sets once. */
export function postByGot(url: string, token: string): Post {
  const client = got.extend({
    agent: { http: new http.Agent({ keepAlive: true, maxSockets: 128 }) },
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    timeout: { connect: 5_000, response: 20_000, request: 25_000 },
    headers: { authorization: `bearer ${token}`, accept: 'application/json' },
  });
  return async ({ contentType, body }) => {
    const answer = await client.post(url, { body, headers: { 'content-type': contentType } });
    return accepted(answer.statusCode, answer.body);
  };
}

/** One submission by the bare HTTP client of Node. */
export function postByNode(url: string, token: string): Post {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
  const address = new URL(url);
  return ({ contentType, body }) =>
    new Promise((resolve, reject) => {
      const request = http.request(
        {
          agent,
          host: address.hostname,
          port: address.port,
          path: address.pathname,
          method: 'POST',
          headers: {
            authorization: `bearer ${token}`,
            accept: 'application/json',
            'content-type': contentType,
            'content-length': body.length,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            try {
              resolve(accepted(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8')));
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
}

function accepted(status: number, text: string): string {
  if (status !== 200 || !text.includes('rackI')) throw new Error(`the simulator answered ${status}: ${text}`);
  return text;
}
