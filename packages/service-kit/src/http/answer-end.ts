import type { ServerResponse } from 'node:http';

/**
 * Calls `onEnd` once with whether the whole answer was handed to the system. `finish` alone does not say so: it also comes when
 * the connection is cut.
 */
export function onAnswerEnd(res: ServerResponse, onEnd: (complete: boolean) => void): void {
  const { socket } = res;
  let complete = false;
  // Before the server's own listener, which may close the connection.
  res.prependOnceListener('finish', () => {
    complete = socket?.destroyed === false;
  });
  res.once('close', () => onEnd(complete));
}
