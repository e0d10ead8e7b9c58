import type { Answer, AuthorityClient, DocumentState, TokenProvider } from '@ecf/authority-client';
import { callWithToken, LoginError } from '@ecf/authority-client/login';
import type { Certificates, TaxpayerReplica } from '@ecf/taxpayer-replica';
import { ReceptionError } from '../errors.js';
import type { Observer } from '../receive/ports.js';
import type { Confirmation } from './confirmation.js';
import type { QueryState } from './ports.js';

export interface QueryStatePorts {
  readonly taxpayers: Pick<TaxpayerReplica, 'taxpayer'>;
  readonly certificates: Certificates;
  readonly observer: Observer;
  readonly clock: () => Date;
}

/** Queries the authority for the state of a document, with the login of its buyer. */
export function createQueryState(
  ports: QueryStatePorts,
  authority: Pick<AuthorityClient, 'queryState'>,
  tokens: TokenProvider,
): QueryState {
  async function stateOf(document: Confirmation): Promise<Answer<DocumentState>> {
    const { env, issuerRnc, encf, buyerRnc, securityCode } = document;
    const buyer = await ports.taxpayers.taxpayer(buyerRnc);
    if (buyer === null) throw new ReceptionError('certificate_missing', `${buyerRnc} is not a taxpayer here.`);
    const login = {
      env,
      account: buyer.account_id,
      rnc: buyer.rnc,
      certificate: ports.certificates.open(buyer, ports.clock()),
    };
    return callWithToken(tokens, login, (token) =>
      authority.queryState({ env, token, issuerRnc, encf, buyerRnc, securityCode }),
    );
  }

  return async function queryState(document) {
    try {
      const answer = await stateOf(document);
      if (answer.outcome === 'verdict') return answer.verdict;
      ports.observer.failed('querying the authority about a received document', answer);
      return null;
    } catch (error) {
      // A failed login means that there is no answer. Any other error is a fault of this service.
      if (!(error instanceof LoginError || error instanceof ReceptionError)) throw error;
      ports.observer.failed('logging in to query the authority about a received document', error);
      return null;
    }
  };
}
