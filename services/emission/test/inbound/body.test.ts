import http from 'node:http';
import { createHttpApp, type RunningServer, serve, silentLogger } from '@ecf/service-kit';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { readBody } from '../../src/inbound/body.js';

let server: RunningServer;
beforeAll(async () => {
  const app = createHttpApp({
    logger: silentLogger,
    maxBodyBytes: 1_000,
    routes: (routes) => routes.post('/', async (req, res) => void res.json((await readBody(req, res)).length)),
  });
  server = await serve(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.stop());

it('a body that turns out to be too large is 413 and nothing else: the connection stays, and no stack is printed', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const post = (chunks: number) =>
    new Promise<{ status: number | undefined; reused: boolean }>((resolve, reject) => {
      const request = http.request(server.url, { method: 'POST', agent }, (response) => {
        const { reusedSocket: reused } = request;
        response.resume().once('end', () => resolve({ status: response.statusCode, reused }));
      });
      request.once('error', reject);
      for (let i = 0; i < chunks; i += 1) request.write(Buffer.alloc(300));
      request.end();
    });
  try {
    expect(await post(2)).toEqual({ status: 200, reused: false });
    for (let i = 0; i < 3; i += 1) expect(await post(20)).toEqual({ status: 413, reused: true });
    expect(await post(2)).toEqual({ status: 200, reused: true });
    expect(printed).not.toHaveBeenCalled();
  } finally {
    printed.mockRestore();
    agent.destroy();
  }
});
