import type { Approval, ReceivedApproval } from '@ecf/contracts';
import { APPROVABLE_TYPES, type Environment, encfType, toIsoDominican } from '@ecf/domain';
import { type Caller, readAccount } from '@ecf/taxpayer-replica';
import { ApprovalsError } from '../errors.js';
import { type GivenApproval, publicApproval, statusWord } from '../given/given-approval.js';
import type { Ports } from '../ports.js';

type QueryPorts = Pick<Ports, 'approvals' | 'received' | 'taxpayers' | 'source' | 'observer' | 'archive' | 'emission'>;

/** Questions about approvals. What is not the account's does not exist for it (404). */
export class QueryApprovals {
  constructor(private readonly ports: QueryPorts) {}

  /** Newest first. */
  async list(query: {
    asker: Caller;
    env: Environment;
    receiverRnc: string;
    limit: number;
    offset: number;
  }): Promise<Approval[]> {
    await this.#requireTaxpayer(query.asker, query.receiverRnc);
    const { env, receiverRnc: buyerRnc, limit, offset } = query;
    return (await this.ports.approvals.list({ env, buyerRnc, limit, offset })).map(publicApproval);
  }

  async one(query: { asker: Caller; environments: readonly Environment[]; id: number }): Promise<Approval> {
    return publicApproval(await this.#own(query));
  }

  /** The very bytes that were signed. */
  async xml(query: { asker: Caller; environments: readonly Environment[]; id: number }): Promise<Uint8Array> {
    const { xml } = await this.#own(query);
    return this.ports.archive.get(xml.path, xml.sha256);
  }

  /** What the buyer decided about an e-CF of ours. */
  async received(query: {
    asker: Caller;
    env: Environment;
    issuerRnc: string;
    encf: string;
  }): Promise<ReceivedApproval> {
    const { env, issuerRnc, encf } = query;
    await this.#requireTaxpayer(query.asker, issuerRnc);
    const approval = await this.ports.received.find({ env, issuerRnc, encf });
    const numbers = [{ issuer_rnc: issuerRnc, encf }];
    const invoice = (await this.ports.emission.findInvoices({ env, numbers })).invoices[0];
    if (invoice === undefined && approval === null)
      throw new ApprovalsError('not_found', `${issuerRnc} issued no ${encf} in ${env}.`);
    if (!(APPROVABLE_TYPES as readonly string[]).includes(encfType(encf) ?? ''))
      throw new ApprovalsError('not_found', `e-CF of the type of ${encf} have no commercial approval.`);
    return {
      encf,
      issuer_rnc: issuerRnc,
      buyer_rnc: approval?.key.buyerRnc ?? invoice?.buyer_rnc ?? null,
      approval_status: approval === null ? 'pending' : statusWord(approval.decision),
      approval_datetime: approval === null ? null : toIsoDominican(approval.decidedAt),
      rejection_reason: approval?.reason ?? null,
    };
  }

  async #own(query: { asker: Caller; environments: readonly Environment[]; id: number }): Promise<GivenApproval> {
    const approval = await this.ports.approvals.find(query.id);
    if (approval !== null && query.environments.includes(approval.key.env)) {
      const rncs = (await readAccount(this.ports, query.asker)).taxpayers.map(({ rnc }) => rnc);
      if (rncs.includes(approval.key.buyerRnc)) return approval;
    }
    throw new ApprovalsError('not_found', `There is no approval ${query.id} of this account.`);
  }

  async #requireTaxpayer(asker: Caller, rnc: string): Promise<void> {
    if ((await readAccount(this.ports, asker)).taxpayers.some((taxpayer) => taxpayer.rnc === rnc)) return;
    throw new ApprovalsError('taxpayer_not_found', `${rnc} is not a taxpayer of this account.`);
  }
}
