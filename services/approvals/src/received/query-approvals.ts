import type { Approval, ApprovalAnswers, EmissionOperations, ReceivedApproval } from '@ecf/contracts';
import { APPROVABLE_TYPES, type Environment, encfType, toIsoDominican } from '@ecf/domain';
import { shownSigner } from '@ecf/public-ingress/signed-document';
import type { DocumentReader } from '@ecf/service-kit/xml-store';
import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { ApprovalsError } from '../errors.js';
import { type GivenApproval, publicApproval, statusWord } from '../given/given-approval.js';
import type { ApprovalStore } from '../given/ports.js';
import { publicAnswer } from './answers.js';
import type { ReceivedAnswer, ReceivedApprovalStore } from './ports.js';

export interface QueryApprovalsParts extends AccountPorts {
  readonly approvals: Pick<ApprovalStore, 'find' | 'list'>;
  readonly received: Pick<ReceivedApprovalStore, 'find' | 'answers'>;
  readonly archive: DocumentReader;
  readonly emission: Pick<EmissionOperations, 'findInvoices'>;
}

interface OneQuery {
  readonly caller: Caller;
  readonly environments: readonly Environment[];
  readonly id: number;
}

interface IssuedQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
}

/** Reads approvals. Those of other accounts are 404. */
export interface QueryApprovals {
  /** Newest first. */
  list(query: {
    caller: Caller;
    env: Environment;
    receiverRnc: string;
    limit: number;
    offset: number;
  }): Promise<Approval[]>;
  one(query: OneQuery): Promise<Approval>;
  /** The very bytes that were signed. */
  xml(query: OneQuery): Promise<Uint8Array>;
  /** The buyer's decision about one of our e-CF. */
  received(query: IssuedQuery): Promise<ReceivedApproval>;
  /** Every answer that came, whether it counts or not. */
  answers(query: IssuedQuery): Promise<ApprovalAnswers>;
}

export function createQueryApprovals(ports: QueryApprovalsParts): QueryApprovals {
  async function ownApproval({ caller, environments, id }: OneQuery): Promise<GivenApproval> {
    const approval = await ports.approvals.find(id);
    if (approval !== null && environments.includes(approval.key.env)) {
      const rncs = (await readAccount(ports, caller)).taxpayers.map(({ rnc }) => rnc);
      if (rncs.includes(approval.key.buyerRnc)) return approval;
    }
    throw new ApprovalsError('not_found', `There is no approval ${id} of this account.`);
  }

  /** One of our e-CF, of a type that can be approved, with the answer that counts. */
  async function issuedDocument({ caller, env, issuerRnc, encf }: IssuedQuery): Promise<{
    answer: ReceivedAnswer | null;
    buyerRnc: string | null;
  }> {
    await requireTaxpayer(ports, caller, issuerRnc);
    const answer = await ports.received.find({ env, issuerRnc, encf });
    const numbers = [{ issuer_rnc: issuerRnc, encf }];
    const invoice = (await ports.emission.findInvoices({ env, numbers })).invoices[0];
    if (invoice === undefined && answer === null)
      throw new ApprovalsError('not_found', `${issuerRnc} issued no ${encf} in ${env}.`);
    if (!(APPROVABLE_TYPES as readonly string[]).includes(encfType(encf) ?? ''))
      throw new ApprovalsError('not_found', `e-CF of the type of ${encf} have no commercial approval.`);
    return { answer, buyerRnc: answer?.key.buyerRnc ?? invoice?.buyer_rnc ?? null };
  }

  return {
    async list({ caller, env, receiverRnc: buyerRnc, limit, offset }) {
      await requireTaxpayer(ports, caller, buyerRnc);
      return (await ports.approvals.list({ env, buyerRnc, limit, offset })).map(publicApproval);
    },
    one: async (query) => publicApproval(await ownApproval(query)),
    async xml(query) {
      const { xml } = await ownApproval(query);
      return ports.archive.get(xml.path, xml.sha256);
    },
    async received(query) {
      const { issuerRnc, encf } = query;
      const { answer, buyerRnc } = await issuedDocument(query);
      return {
        encf,
        issuer_rnc: issuerRnc,
        buyer_rnc: buyerRnc,
        approval_status: answer === null ? 'pending' : statusWord(answer.decision),
        approval_confirmed: answer?.confirmed ?? false,
        approval_datetime: answer === null ? null : toIsoDominican(answer.decidedAt),
        rejection_reason: answer?.reason ?? null,
        signer: answer === null ? null : shownSigner(answer.signer, answer.confirmed),
      };
    },
    async answers(query) {
      await issuedDocument(query);
      const { env, issuerRnc, encf } = query;
      const answers = await ports.received.answers({ env, issuerRnc, encf });
      return { count: answers.length, answers: answers.map(publicAnswer) };
    },
  };
}

/** Throws `taxpayer_not_found` if the taxpayer is of another account. */
export async function requireTaxpayer(ports: AccountPorts, caller: Caller, rnc: string): Promise<void> {
  if ((await readAccount(ports, caller)).taxpayers.some((taxpayer) => taxpayer.rnc === rnc)) return;
  throw new ApprovalsError('taxpayer_not_found', `${rnc} is not a taxpayer of this account.`);
}
