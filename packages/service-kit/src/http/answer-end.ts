import type { ServerResponse } from 'node:http';

/**
 * Tells once whether an answer was handed over completely. `finish` alone does not say so: a connection that is cut, by us or by
 * who reads it, finishes what it drops. What the system holds of a lost connection cannot be known.
 */
export function onAnswerEnd(res: ServerResponse, tell: (complete: boolean) => void): void {
  const { socket } = res;
  let complete = false;
  // Before the server's own listener, which may close the connection.
  res.prependOnceListener('finish', () => {
    complete = socket?.destroyed === false;
  });
  res.once('close', () => tell(complete));
}
