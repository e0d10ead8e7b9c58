import { setTimeout as delay } from 'node:timers/promises';
import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import type { Bus } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { type FollowUpOperations, type InvoiceChanged, TOPICS } from '@ecf/contracts';

const EVERY_MS = 50;

export interface TestStatusPoller {
  stop(): Promise<void>;
}

/** Stands in for the status poller: queries every undecided document and publishes each result but EnProceso. */
export function startTestStatusPoller(followUps: FollowUpOperations, bus: Bus, authorityUrl: string): TestStatusPoller {
  const client = createAuthorityClient({ endpoints: authorityEndpoints(authorityUrl), userAgent: 'test' });
  const stopping = new AbortController();

  async function poll(invoice: InvoiceChanged): Promise<void> {
    const { env, issuer_rnc, encf, track_id } = invoice;
    if (track_id === null) return;
    const { token } = await followUps.documentToken({ env, issuer_rnc, encf, refused: null });
    const answer = await client.queryResult({ env, token, trackId: track_id, issuerRnc: issuer_rnc, encf });
    if (answer.outcome === 'unauthorized') await followUps.documentToken({ env, issuer_rnc, encf, refused: token });
    if (answer.outcome !== 'verdict') return;
    const { status, code, messages, sequenceUsed, dateReceived } = answer.verdict;
    if (status === 'EnProceso') return;
    const data = {
      env,
      issuer_rnc,
      encf,
      account_id: invoice.account_id,
      track_id,
      revision: 1,
      status,
      final: status !== 'No encontrado',
      code,
      messages: [...messages],
      sequence_used: sequenceUsed,
      date_received: dateReceived,
      asked_at: new Date().toISOString(),
      answer: { http_status: answer.raw.status, content_type: answer.raw.contentType, body: answer.raw.body },
    };
    const key = `${env}:${issuer_rnc}:${encf}`;
    const { name: topic } = TOPICS.invoiceStatus;
    const draft = { topic, type: 'invoice_status.changed', source: 'status-poller', subject: encf, key, data };
    await bus.publish([makeEvent(draft, { id: crypto.randomUUID(), time: new Date() })]);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const { invoices } = await followUps.pageOfUndecided({ after: 0, limit: 100 });
        await Promise.allSettled(invoices.map(poll));
      } catch {
        // The database of the instance is down; the next round finds the document again.
      }
      await delay(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
      client.close();
    },
  };
}
