import type { IncomingMessage, ServerResponse } from 'node:http';

/** The service that owns an operation. */
export interface Upstream {
  /**
   * Answers the request. The edge has set its address to the owner's and its headers to what the owner may know: the signed
   * identity in place of the key, the request id, the sender's address. `next` takes an error while nothing was answered.
   */
  forward(req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** Rejects while the service cannot answer. */
  ready(): Promise<void>;
}
