import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, GatewayError, gateway } from './gateway.js';
import { type Place, usePlace } from './place.js';
import { type Approval, findReceived, oneReceivedKey, type ReceivedInvoice } from './received.js';

/** A decision about received documents: approved, or rejected with one of the standard's reasons. */
export type Decision = { approve: true } | { approve: false; code: 1 | 2 | 3; description: string | null };

/** What became of the decision about a document: recorded or failed, or being sent if it is neither. */
export interface Outcome {
  readonly invoice: ReceivedInvoice;
  readonly approval?: Approval;
  readonly error?: Error;
}

/** Whether the authority refused a decision that was recorded, so that a new one is possible. */
export function isRefused({ approval }: Outcome): boolean {
  return approval?.authority_submission_status === 'Rechazado';
}

/** Whether the same decision may succeed later; not about a document that another has replaced since it was shown. */
export function mayRepeat({ error }: Outcome): boolean {
  const isReplaced = error instanceof GatewayError && error.items.some(({ type }) => type === 'mismatch');
  return error !== undefined && !isReplaced;
}

/** Documents whose decisions are sent at the same time. */
const AT_A_TIME = 4;
/** How often, and after how many milliseconds each time, the list is asked whether it shows a decision. */
const LOOKS = 20;
const LOOK_AFTER_MS = 250;

/** Sends one decision about several documents. The failure of one leaves the others done; `outcomes` says which. */
export function useDecisions() {
  const { env } = usePlace();
  const queries = useQueryClient();
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [decision, setDecision] = useState<Decision | null>(null);

  async function decideOne(invoice: ReceivedInvoice, made: Decision): Promise<void> {
    const outcome: Outcome = await send(invoice, env, made).then(
      (approval) => ({ invoice, approval }),
      (error: Error) => ({ invoice, error }),
    );
    if (outcome.approval) await shown(queries, invoice, env, isRefused(outcome));
    setOutcomes((all) => all.map((one) => (one.invoice.id === invoice.id ? outcome : one)));
  }

  async function decide(invoices: readonly ReceivedInvoice[], made: Decision): Promise<void> {
    setDecision(made);
    setOutcomes(invoices.map((invoice) => ({ invoice })));
    const waiting = [...invoices];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await decideOne(next, made);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    // Also where it failed: the document may have been decided elsewhere, or the session may have ended.
    const names = ['received', 'received one', 'received document', 'decisions'];
    for (const name of names) queries.invalidateQueries({ queryKey: [name] });
  }

  const failed = outcomes.filter(mayRepeat);
  return {
    outcomes,
    busy: outcomes.some(({ approval, error }) => !approval && !error),
    decide,
    /** Sends the same decision about the documents for which it failed. */
    repeat: () =>
      decision &&
      decide(
        failed.map(({ invoice }) => invoice),
        decision,
      ),
    dismiss: () => setOutcomes([]),
  };
}

function send({ id, encf, provider_rnc, buyer_rnc }: ReceivedInvoice, env: Place['env'], decision: Decision) {
  return bodyOf(
    gateway.POST('/acecf', {
      body: {
        // The document that the person saw: another may have taken its number meanwhile.
        ecf_document_id: id,
        issuer_rnc: provider_rnc,
        receiver_rnc: buyer_rnc,
        encf,
        authority_environment: env,
        approval_status: decision.approve ? 1 : 2,
        ...(decision.approve ? {} : { rejection_code: decision.code, rejection_description: decision.description }),
      },
    }),
  );
}

/**
 * Waits until the received document shows its decision, which arrives a moment later, and puts it into the loaded lists. A
 * decision that the authority refused is shown and then withdrawn.
 */
async function shown(
  queries: QueryClient,
  invoice: ReceivedInvoice,
  env: Place['env'],
  refused: boolean,
): Promise<void> {
  let wasDecided = false;
  for (let look = 0; look < LOOKS; look += 1) {
    const now = await findReceived(invoice, env).catch(() => invoice);
    const isDecided = now.approval_status !== 'pending';
    if (refused ? wasDecided && !isDecided : isDecided) return replace(queries, now, env);
    wasDecided ||= isDecided;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AFTER_MS));
  }
}

function replace(queries: QueryClient, now: ReceivedInvoice, env: Place['env']): void {
  queries.setQueryData(oneReceivedKey(now, env), now);
  queries.setQueriesData<{ invoices: ReceivedInvoice[] }>({ queryKey: ['received'] }, (page) =>
    page === undefined ? page : { ...page, invoices: page.invoices.map((one) => (one.id === now.id ? now : one)) },
  );
}
