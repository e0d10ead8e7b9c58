import type { ConsumptionInvoiceStatus } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import { requireTaxpayer } from '../account-taxpayers.js';
import { askWithToken } from '../authority/ask-authority.js';
import { mayExist, QueryError } from '../errors.js';
import type { Ports } from '../ports.js';
import type { Freshness } from './freshness.js';

/** `GET /query-consumption-invoice/`: a document of type 32 by what its buyer holds in hands. */
export interface ConsumptionQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  readonly securityCode: string;
  readonly buyerRnc: string | null;
}

type ConsumptionPorts = Pick<Ports, 'authority' | 'tokens' | 'invoices' | 'taxpayers' | 'source' | 'observer'>;

/**
 * What the authority says of a consumer invoice now. One that went as a summary is known to the summary's query; one that
 * went as a whole (250,000.00 and above) to the query by document data.
 */
export function createConsumptionInvoice(
  ports: ConsumptionPorts,
  freshness: Pick<Freshness, 'documents'>,
): (query: ConsumptionQuery) => Promise<ConsumptionInvoiceStatus> {
  /** How our document went; null for one that did not go through us, `unknown` where its owner could not be asked. */
  async function routeOf({ env, issuerRnc, encf }: ConsumptionQuery): Promise<'ecf' | 'rfce' | 'unknown' | null> {
    const find = async () => (await ports.invoices.byNumber(env, [issuerRnc], encf))[0]?.route ?? null;
    const known = await find();
    if (known !== null) return known;
    const wasAsked = await freshness.documents(env, [issuerRnc], encf);
    return (await find()) ?? (wasAsked ? null : 'unknown');
  }

  return async (query) => {
    const { env, issuerRnc, encf, securityCode, buyerRnc } = query;
    await requireTaxpayer(ports, query.caller, issuerRnc);
    const route = await routeOf(query);
    const request = { caller: query.caller, env, rnc: issuerRnc };
    const asked = { env, issuerRnc, encf, securityCode };
    const { status, code, ...rest } =
      route === 'ecf'
        ? await askWithToken(ports.tokens, request, (token) =>
            ports.authority.queryState({ ...asked, token, ...(buyerRnc === null ? {} : { buyerRnc }) }),
          )
        : await askWithToken(ports.tokens, request, (token) =>
            ports.authority.queryConsumerSummary({ ...asked, token }),
          );
    if (status === 'No encontrado') {
      // One that went as a whole is not known to the summary's query.
      if (route === 'unknown') throw mayExist(`how ${encf} of ${issuerRnc} went to the authority`);
      throw new QueryError('not_found', `The authority knows no ${encf} of ${issuerRnc} with this security code.`);
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
