import http from 'node:http';

/** One call of a round: a whole request. */
export interface Call {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** The measured times of a round. */
interface Round {
  calls: number;
  seconds: number;
  /** Seconds of each call. */
  latencies: number[];
}

/** Sends calls to one server over keep-alive connections. */
export interface Load {
  /**
   * Sends the calls with a fixed number in flight; runs `onSend` for each as it leaves.
   * @throws Error when `isRight` refuses an answer
   */
  round<C extends Call>(calls: readonly C[], callers: number, onSend?: (call: C) => void): Promise<Round>;
  close(): void;
}

/** Uses little processor time, because it shares the machine with the measured program. */
export function createLoad(url: string, isRight: (status: number, text: string) => boolean): Load {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
  const { hostname, port } = new URL(url);

  function send({ path, headers, body }: Call): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          agent,
          host: hostname,
          port,
          path,
          method: 'POST',
          headers: { ...headers, 'content-length': body.length },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            if (isRight(response.statusCode ?? 0, text)) resolve();
            else reject(new Error(`${path} answered ${response.statusCode}: ${text.slice(0, 500)}`));
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  return {
    async round(calls, callers, onSend) {
      const latencies: number[] = [];
      let next = 0;
      const caller = async (): Promise<void> => {
        while (next < calls.length) {
          const call = calls[next++] as (typeof calls)[number];
          const began = performance.now();
          onSend?.(call);
          await send(call);
          latencies.push((performance.now() - began) / 1000);
        }
      };
      const began = performance.now();
      await Promise.all(Array.from({ length: callers }, caller));
      return { calls: calls.length, seconds: (performance.now() - began) / 1000, latencies };
    },
    close: () => agent.destroy(),
  };
}
