import type { ReceivedAcknowledgement } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { type Caller, readAccount } from '@ecf/taxpayer-replica';
import type { AcknowledgementStore } from '../deliveries/delivery-ports.js';
import { ApprovalsError } from '../errors.js';
import type { Ports } from '../ports.js';
import { publicAcknowledgement, type StoredAcknowledgement } from './acknowledgement.js';

type QueryPorts = Pick<Ports, 'taxpayers' | 'source' | 'observer' | 'archive'> & {
  readonly acknowledgements: AcknowledgementStore;
};

interface OneQuery {
  readonly asker: Caller;
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
}

/** Questions about what buyers answered to deliveries. What is not the account's does not exist for it (404). */
export class QueryAcknowledgements {
  constructor(private readonly ports: QueryPorts) {}

  /** Newest first. */
  async list(query: {
    asker: Caller;
    env: Environment;
    issuerRnc: string;
    encf: string | null;
    receiptStatus: 0 | 1 | null;
    limit: number;
    offset: number;
  }): Promise<ReceivedAcknowledgement[]> {
    await this.#requireTaxpayer(query.asker, query.issuerRnc);
    return (await this.ports.acknowledgements.list(query)).map(publicAcknowledgement);
  }

  /** The valid one, else the latest. */
  async one(query: OneQuery): Promise<ReceivedAcknowledgement> {
    return publicAcknowledgement(await this.#found(query));
  }

  /** The very bytes that the buyer returned. */
  async xml(query: OneQuery): Promise<Uint8Array> {
    const { xml } = await this.#found(query);
    return this.ports.archive.get(xml.path, xml.sha256);
  }

  async #found(query: OneQuery): Promise<StoredAcknowledgement> {
    await this.#requireTaxpayer(query.asker, query.issuerRnc);
    const { env, issuerRnc, encf } = query;
    const stored = await this.ports.acknowledgements.find({ env, issuerRnc, encf });
    if (stored !== null) return stored;
    throw new ApprovalsError('not_found', `No buyer acknowledged ${encf} of ${issuerRnc} in ${env} yet.`);
  }

  async #requireTaxpayer(asker: Caller, rnc: string): Promise<void> {
    if ((await readAccount(this.ports, asker)).taxpayers.some((taxpayer) => taxpayer.rnc === rnc)) return;
    throw new ApprovalsError('taxpayer_not_found', `${rnc} is not a taxpayer of this account.`);
  }
}
