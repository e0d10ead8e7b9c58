import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@ecf/service-kit/security';

/** What the owner of an operation is told beside the request itself. */
export interface ForwardedCall {
  /** Path and query as the owner's routes know them. */
  url: string;
  /** Who calls. */
  caller: Caller;
  /** The same as the value of the identity header, signed for a service of another process. */
  identity: () => string;
  /** The address the call came from. */
  sender: string;
}

/** The service that owns an operation. The request's body goes to it as it arrives. */
export interface Upstream {
  /** Answers the request; throws only where nothing was answered yet. */
  forward(req: IncomingMessage, res: ServerResponse, call: ForwardedCall): void | Promise<void>;
  /** Rejects while the service cannot answer. */
  ready(): Promise<void>;
}
