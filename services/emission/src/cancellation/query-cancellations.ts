import { mayActFor } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { Taxpayers } from '../credentials/taxpayers.js';
import { EmissionError } from '../errors.js';
import type { Cancellation } from './cancellation.js';
import type { CancellationPorts } from './ports.js';

export interface CancellationQuery {
  readonly caller: Caller;
  /** Environments of the caller's key. */
  readonly environments: readonly Environment[];
  readonly id: number;
}

/** Queries for cancellations. Cancellations of other accounts do not exist for the caller (404). */
export interface QueryCancellations {
  /** Newest first. */
  list(query: {
    caller: Caller;
    env: Environment;
    issuerRnc: string;
    limit: number;
    offset: number;
  }): Promise<AsyncIterable<Cancellation>>;
  one(query: CancellationQuery): Promise<Cancellation>;
  /** The signed bytes. */
  xml(query: CancellationQuery): Promise<Uint8Array>;
}

export function createQueryCancellations(
  ports: Pick<CancellationPorts, 'cancellations' | 'archive'>,
  taxpayers: Taxpayers,
): QueryCancellations {
  async function own({ caller, environments, id }: CancellationQuery): Promise<Cancellation> {
    const found = await ports.cancellations.find(id);
    const visible = found !== null && found.accountId === caller.accountId && mayActFor(caller, found.issuerRnc);
    if (visible && environments.includes(found.env)) return found;
    throw new EmissionError('not_found', `There is no cancellation ${id} of this account.`);
  }
  return {
    async list({ caller, env, issuerRnc, limit, offset }) {
      if (!(await taxpayers.list(caller)).some(({ rnc }) => rnc === issuerRnc))
        throw new EmissionError('taxpayer_not_found', `${issuerRnc} is not a taxpayer of this account.`);
      return ports.cancellations.list({ env, issuerRnc, limit, offset });
    },
    one: own,
    async xml(query) {
      const { xml } = await own(query);
      return ports.archive.get(xml.path, xml.sha256);
    },
  };
}
