import { MAX_NUMBERS_PER_QUERY } from '@ecf/contracts';
import { type Environment, isEncf } from '@ecf/domain';
import { issuedInvoice } from './issued-invoice.js';
import type { InvoiceSource, Projection, ReceivedSearch, ReceivedSource, RunStore } from './ports.js';
import { receivedRecord } from './received-record.js';

interface OwnerPorts {
  readonly emission: Pick<InvoiceSource, 'findInvoices'>;
  readonly reception: Pick<ReceivedSource, 'findReceived'>;
  readonly projection: Projection;
  readonly runs: Pick<RunStore, 'note'>;
  readonly failed: (what: string, error: unknown) => void;
}

/**
 * Looks single documents up at the services that own them, and stores the answer like an event. So a caller finds a document
 * that it has just submitted, even before the event has arrived.
 */
export interface Owners {
  /**
   * Documents of some issuers under a number, in the run, or in the present one (null). False if emission did not answer.
   */
  issued(env: Environment, issuerRncs: readonly string[], encf: string, run?: number | null): Promise<boolean>;
  /** Documents received under a number. False if reception did not answer. */
  received(search: ReceivedSearch): Promise<boolean>;
}

export function createOwners({ runs, projection, emission, reception, failed }: OwnerPorts): Owners {
  async function answered(owner: string, lookUp: () => Promise<void>): Promise<boolean> {
    try {
      await lookUp();
      return true;
    } catch (error) {
      failed(`looking up a document at ${owner}`, error);
      return false;
    }
  }

  return {
    async issued(env, issuerRncs, encf, run = null) {
      // Emission issues no malformed number, though a provider may have sent one.
      if (!isEncf(encf)) return true;
      return answered('emission', async () => {
        for (const page of pagesOf(issuerRncs)) {
          const numbers = page.map((issuer_rnc) => ({ issuer_rnc, encf, ...(run === null ? {} : { run }) }));
          const { invoices } = await emission.findInvoices({ env, numbers });
          // A document of a later run shows that the run began.
          await runs.note(
            invoices.flatMap((one) => (one.run ? [{ env, issuerRnc: one.issuer_rnc, run: one.run }] : [])),
          );
          if (invoices.length > 0) await projection.keepInvoices(invoices.map(issuedInvoice));
        }
      });
    },
    received: ({ env, buyerRncs, issuerRnc, encf }) =>
      answered('reception', async () => {
        for (const buyer_rncs of pagesOf(buyerRncs)) {
          const { received } = await reception.findReceived({ env, buyer_rncs, issuer_rnc: issuerRnc, encf });
          if (received.length > 0) await projection.keepReceived(received.map(receivedRecord));
        }
      }),
  };
}

function* pagesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += MAX_NUMBERS_PER_QUERY) yield items.slice(at, at + MAX_NUMBERS_PER_QUERY);
}
