import http from 'node:http';

// biome-ignore lint/suspicious/noExplicitAny: answers are asserted as they come, not typed
export type Json = any;

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  json(): Json;
}

export interface Request {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
  readonly timeoutMs?: number;
}

/** One call on its own connection; rejects without an answer. */
export function call(url: string, { method, headers = {}, body, timeoutMs = 60_000 }: Request = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : Buffer.from(body);
    const request = http.request(
      url,
      {
        method: method ?? (payload ? 'POST' : 'GET'),
        agent: false,
        headers: { ...(payload ? { 'Content-Length': String(payload.length) } : {}), ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: bytes,
            text,
            json: () => JSON.parse(text),
          });
        });
      },
    );
    request.setTimeout(timeoutMs, () => request.destroy(new Error('no answer')));
    request.on('error', reject);
    request.end(payload);
  });
}

const BOUNDARY = 'X-TEST-BOUNDARY';

/** A multipart body with one file part, as most HTTP clients write it. */
export function multipart(content: Buffer | string, filename: string, name = 'xml') {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: text/xml\r\n\r\n`;
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]),
  };
}
