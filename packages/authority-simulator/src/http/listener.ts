import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerControl } from '../control/control.js';
import { CONTROL_PATH } from '../control/paths.js';
import { type Dispatcher, send } from './dispatch.js';
import { textAnswer } from './exchange.js';

export interface Listener {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

interface Listening {
  readonly port: number;
  readonly host: string;
  readonly dispatcher: Dispatcher;
  readonly control: Parameters<typeof answerControl>[0];
}

const GREETING = textAnswer(
  200,
  'Tax authority simulator. Services: /{testecf|certecf|ecf}/{service}/..., /api/estatusservicios/... Control: /_control/...\n',
);

/** Listens until it is stopped. */
export async function listen({ port, host, dispatcher, control }: Listening): Promise<Listener> {
  const handle = (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = request.url ?? '/';
    if (target.startsWith(CONTROL_PATH)) return answerControl(control, request, response);
    if (target === '/') return Promise.resolve(send(request, response, GREETING));
    return dispatcher.dispatch(request, response);
  };
  const server = http.createServer({ noDelay: true, keepAliveTimeout: 75_000 }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(error);
      if (response.headersSent) response.destroy();
      else send(request, response, textAnswer(500, 'Internal Server Error'));
    });
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
