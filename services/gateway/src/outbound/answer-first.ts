import type { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

const prepared = new WeakSet<Socket>();

/**
 * Has a connection read to its end though writing to it failed. Who answers before it has read everything, and closes, makes
 * the next write fail; its answer has arrived by then and would be lost with the connection. Where there was none, the end
 * of the connection tells that.
 */
export function readThoughWritingFails(socket: Socket): void {
  if (prepared.has(socket)) return;
  prepared.add(socket);
  let failed = false;
  const heeding = (done: Done) => (error?: Error | null) => {
    if (error) failed = true;
    done();
  };
  const { _write: write, _writev: writeAll } = socket;
  socket._write = (chunk, encoding, done) => (failed ? done() : write.call(socket, chunk, encoding, heeding(done)));
  if (writeAll === undefined) return;
  socket._writev = (chunks, done) => (failed ? done() : writeAll.call(socket, chunks, heeding(done)));
}
