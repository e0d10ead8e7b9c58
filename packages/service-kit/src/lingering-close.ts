import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** For what is on its way when the answer leaves, and for the answer to be read. */
const LINGER_MS = 2_000;
/** More than this is not read of a body that nobody wants. */
const LINGER_BYTES = 64 * 1024 * 1024;

/** Of each connection that reads on before it closes, the request that was answered last before its body was complete. */
const unread = new WeakMap<Socket, IncomingMessage>();

/**
 * Has a connection that is closed after its answer, while the request's body is still coming, read and drop what comes, for a
 * moment. A connection that is closed over unread bytes is reset, and a reset loses the answer for whoever is still sending.
 * What is dropped is not parsed. To be called for each such request; what a connection is given for it is given once.
 */
export function closeLingering(req: IncomingMessage): void {
  const { socket } = req;
  const prepared = unread.has(socket);
  unread.set(socket, req);
  if (prepared) return;
  const close = socket.destroySoon;
  socket.destroySoon = () => {
    if (unread.get(socket)?.complete) close.call(socket);
    else linger(socket);
  };
}

function linger(socket: Socket): void {
  let left = LINGER_BYTES;
  const cut = () => socket.destroy();
  const timer = setTimeout(cut, LINGER_MS);
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  socket.once('end', cut).once('close', () => clearTimeout(timer));
  socket.end();
  socket.resume();
  // Where nobody took the body, reading was stopped behind the stream's back, which `resume` alone does not begin again.
  socket._read(0);
}
