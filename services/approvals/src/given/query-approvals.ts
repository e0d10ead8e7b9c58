import type { DocumentReader } from '@ecf/archive';
import type { Approval } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { ApprovalsError } from '../errors.js';
import { type GivenApproval, publicApproval } from './given-approval.js';
import type { ApprovalFilter, ApprovalStore } from './ports.js';

interface OneQuery {
  readonly caller: Caller;
  readonly environments: readonly Environment[];
  readonly id: number;
}

/** Reads the approvals that our taxpayers gave. Those of other accounts are 404. */
export interface QueryApprovals {
  /** Newest first. */
  list(query: ApprovalFilter & { caller: Caller }): Promise<Approval[]>;
  one(query: OneQuery): Promise<Approval>;
  /** The very bytes that were signed. */
  xml(query: OneQuery): Promise<Uint8Array>;
}

export function createQueryApprovals(
  approvals: Pick<ApprovalStore, 'find' | 'list'>,
  archive: DocumentReader,
  account: AccountPorts,
): QueryApprovals {
  async function find({ caller, environments, id }: OneQuery): Promise<GivenApproval> {
    const approval = await approvals.find(id);
    if (approval !== null && environments.includes(approval.key.env)) {
      const { taxpayers } = await readAccount(account, caller);
      if (taxpayers.some(({ rnc }) => rnc === approval.key.buyerRnc)) return approval;
    }
    throw new ApprovalsError('not_found', `There is no approval ${id} of this account.`);
  }

  return {
    async list({ caller, ...filter }) {
      await requireTaxpayer(account, caller, filter.buyerRnc);
      return (await approvals.list(filter)).map(publicApproval);
    },
    one: async (query) => publicApproval(await find(query)),
    async xml(query) {
      const { xml } = await find(query);
      return archive.get(xml.path, xml.sha256);
    },
  };
}

/** Throws `taxpayer_not_found` if the taxpayer is of another account. */
export async function requireTaxpayer(account: AccountPorts, caller: Caller, rnc: string): Promise<void> {
  const { taxpayers } = await readAccount(account, caller);
  if (taxpayers.some((taxpayer) => taxpayer.rnc === rnc)) return;
  throw new ApprovalsError('taxpayer_not_found', `${rnc} is not a taxpayer of this account.`);
}
