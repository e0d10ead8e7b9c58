import type { Socket } from 'node:net';

/** For what is on its way when the answer leaves, and for the answer to be read. */
const LINGER_MS = 2_000;
/** More than this is not read of what nobody wants. */
const LINGER_BYTES = 64 * 1024 * 1024;

/**
 * Ends a connection on which more may come, and for a moment reads and drops what comes, unparsed. A connection that is closed
 * over unread bytes is reset, and a reset loses the answer for whoever is still sending; one that only is ended stays open for as
 * long as its peer likes.
 */
export function lingerAndClose(socket: Socket): void {
  let left = LINGER_BYTES;
  const cut = () => socket.destroy();
  const timer = setTimeout(cut, LINGER_MS);
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  socket.once('close', () => clearTimeout(timer));
  const ended = () => (socket.writableFinished ? cut() : socket.once('finish', cut));
  if (socket.readableEnded) ended();
  else socket.once('end', ended);
  socket.end();
  socket.resume();
  // Where nobody took a body, reading was stopped behind the stream's back, which `resume` alone does not begin again.
  socket._read(0);
}
