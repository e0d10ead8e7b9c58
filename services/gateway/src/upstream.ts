import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity, PublicCaller } from '@ecf/service-kit/security';

/** The service that owns an operation. */
export interface Upstream {
  /**
   * Answers the request of the caller. The edge has set the owner's address and its headers: the request id and the sender's
   * address; the key is gone. `next` takes an error before an answer began.
   */
  forward(
    caller: Identity | PublicCaller,
    req: IncomingMessage,
    res: ServerResponse,
    next: (error?: unknown) => void,
  ): void;
  /** Rejects while the service cannot answer. */
  ready(): Promise<void>;
}
