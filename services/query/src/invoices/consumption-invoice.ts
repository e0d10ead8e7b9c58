import type { ConsumptionInvoiceStatus } from '@ecf/contracts';
import { type Environment, storedEnvironment } from '@ecf/domain';
import type { AccountPorts, Caller } from '@ecf/taxpayer-replica';
import { requireTaxpayer } from '../account-taxpayers.js';
import { queryWithToken } from '../authority/authority-query.js';
import type { Authority, TokenSource } from '../authority/ports.js';
import { mayExist, QueryError } from '../errors.js';
import type { Owners } from './owners.js';
import type { InvoiceStore, RunStore } from './ports.js';

/** `GET /query-consumption-invoice/`: a document of type 32 by the data on the buyer's copy. */
export interface ConsumptionQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  readonly securityCode: string;
  readonly buyerRnc: string | null;
}

interface ConsumptionPorts extends AccountPorts {
  readonly authority: Pick<Authority, 'queryState' | 'queryConsumerSummary'>;
  readonly tokens: TokenSource;
  readonly invoices: Pick<InvoiceStore, 'byNumber'>;
  readonly runs: Pick<RunStore, 'present'>;
}

/**
 * Queries the authority about a consumer invoice. The query for summaries finds invoices that were sent as a summary; the
 * query by document data finds invoices that were sent in full (250,000.00 and above).
 */
export function createConsumptionInvoice(
  ports: ConsumptionPorts,
  owners: Pick<Owners, 'issued'>,
): (query: ConsumptionQuery) => Promise<ConsumptionInvoiceStatus> {
  /** The route of a document that we issued; null for one of another system, `unknown` if its owner did not answer. */
  async function routeOf({ env, issuerRnc, encf }: ConsumptionQuery): Promise<'ecf' | 'rfce' | 'unknown' | null> {
    const find = async () => {
      const [run = 1] = await ports.runs.present(env, [issuerRnc]);
      const key = { env: storedEnvironment({ env, run }), issuerRnc };
      return (await ports.invoices.byNumber([key], encf))[0]?.route ?? null;
    };
    const known = await find();
    if (known !== null) return known;
    const ownerAnswered = await owners.issued(env, [issuerRnc], encf);
    return (await find()) ?? (ownerAnswered ? null : 'unknown');
  }

  return async (query) => {
    const { env, issuerRnc, encf, securityCode, buyerRnc } = query;
    await requireTaxpayer(ports, query.caller, issuerRnc);
    const route = await routeOf(query);
    const request = { caller: query.caller, env, rnc: issuerRnc };
    const document = { env, issuerRnc, encf, securityCode };
    const { status, code, ...rest } =
      route === 'ecf'
        ? await queryWithToken(ports.tokens, request, (token) =>
            ports.authority.queryState({ ...document, token, ...(buyerRnc === null ? {} : { buyerRnc }) }),
          )
        : await queryWithToken(ports.tokens, request, (token) =>
            ports.authority.queryConsumerSummary({ ...document, token }),
          );
    if (status === 'No encontrado') {
      // The query for summaries does not find documents sent in full.
      if (route === 'unknown') throw mayExist(`how ${encf} of ${issuerRnc} went to the authority`);
      throw new QueryError('not_found', `The authority has no ${encf} of ${issuerRnc} with this security code.`);
    }
    return {
      rnc: issuerRnc,
      encf,
      status,
      code,
      messages: 'messages' in rest ? rest.messages : [],
      sequence_used: 'sequenceUsed' in rest ? rest.sequenceUsed : null,
    };
  };
}
