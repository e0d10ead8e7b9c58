import type { IncomingMessage, ServerResponse } from 'node:http';

/** The service that owns an operation. */
export interface Upstream {
  /**
   * Answers the request. The edge has set the owner's address and its headers: the signed identity instead of the key, the
   * request id, the sender's address. `next` takes an error before an answer began.
   */
  forward(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** Rejects while the service cannot answer. */
  ready(): Promise<void>;
}
