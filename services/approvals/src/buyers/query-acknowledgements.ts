import type { DocumentReader } from '@ecf/archive';
import type { ReceivedAcknowledgement } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { SignerFacts } from '@ecf/public-ingress';
import type { AccountPorts, Caller } from '@ecf/taxpayer-replica';
import { ApprovalsError } from '../errors.js';
import { requireTaxpayer } from '../given/query-approvals.js';
import type { KnownSigners } from '../received/ports.js';
import { publicAcknowledgement, type StoredAcknowledgement } from './acknowledgement.js';
import type { AcknowledgementFilter, AcknowledgementStore } from './ports.js';

export interface QueryAcknowledgementsParts extends AccountPorts {
  readonly acknowledgements: AcknowledgementStore;
  readonly signers: Pick<KnownSigners, 'areKnown'>;
  readonly archive: DocumentReader;
}

interface OneQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
}

/** Reads the acknowledgements of buyers. Those of other accounts are 404. */
export interface QueryAcknowledgements {
  /** Newest first. */
  list(query: AcknowledgementFilter & { readonly caller: Caller }): Promise<ReceivedAcknowledgement[]>;
  /** The valid one, else the latest. */
  one(query: OneQuery): Promise<ReceivedAcknowledgement>;
  /** The very bytes that the buyer returned. */
  xml(query: OneQuery): Promise<Uint8Array>;
}

export function createQueryAcknowledgements(ports: QueryAcknowledgementsParts): QueryAcknowledgements {
  async function find({ caller, env, issuerRnc, encf }: OneQuery): Promise<StoredAcknowledgement> {
    await requireTaxpayer(ports, caller, issuerRnc);
    const stored = await ports.acknowledgements.find({ env, issuerRnc, encf });
    if (stored !== null) return stored;
    throw new ApprovalsError('not_found', `No buyer acknowledged ${encf} of ${issuerRnc} in ${env} yet.`);
  }

  /** With their signers, and whether these were known before. */
  async function shown(stored: readonly StoredAcknowledgement[]): Promise<ReceivedAcknowledgement[]> {
    const signed = stored.filter(({ signer }) => signer !== null);
    const uses = signed.map(({ key, buyerRnc, signer, receivedAt }) => ({
      env: key.env,
      rnc: buyerRnc,
      signer: signer as SignerFacts,
      at: receivedAt,
    }));
    const known = await ports.signers.areKnown(uses);
    return stored.map((one) => publicAcknowledgement(one, known[signed.indexOf(one)] ?? false));
  }

  return {
    async list(query) {
      await requireTaxpayer(ports, query.caller, query.issuerRnc);
      return shown(await ports.acknowledgements.list(query));
    },
    one: async (query) => (await shown([await find(query)]))[0] as ReceivedAcknowledgement,
    async xml(query) {
      const { xml } = await find(query);
      return ports.archive.get(xml.path, xml.sha256);
    },
  };
}
