import type { Service } from '../environments.js';
import type { Operation } from '../operation.js';
import type { Handler } from './exchange.js';

/** One address of the simulator. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** The service below the environment; null: below the root. */
  readonly service: Service | null;
  /** The rest of the path, in lower case. */
  readonly path: string;
  /** Its name in faults; null: only `*` applies to it. */
  readonly operation: Operation | null;
  /** Whether a token is needed. */
  readonly token: boolean;
  readonly handler: Handler;
}
