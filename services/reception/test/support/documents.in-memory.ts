import type { ReceivedInvoiceChanged, ReceivedInvoiceDecision } from '@ecf/contracts';
import { Decimal, type Environment } from '@ecf/domain';
import {
  type Conflict,
  type DocumentKey,
  type NewRefusedDocument,
  type ReceivedDocument,
  receivedInvoiceChanged,
  type UnkeptConflict,
} from '../../src/core/documents/received-document.js';
import type { DocumentStore, ListedDocument, NumberSearch, ReceivedFilter } from '../../src/core/ports.js';

interface Held {
  document: ReceivedDocument;
  approvalRevision: number;
  conflicts: Conflict[];
  competing: Map<string, UnkeptConflict>;
}

/** Received documents in memory, for tests of what stands above. `events` is what would be in the outbox. */
export function createInMemoryDocumentStore(): DocumentStore & {
  readonly events: ReceivedInvoiceChanged[];
  readonly refusals: NewRefusedDocument[];
} {
  const held: Held[] = [];
  const refusals: NewRefusedDocument[] = [];
  const events: ReceivedInvoiceChanged[] = [];
  const early = new Map<string, ReceivedInvoiceDecision>();
  const handled = new Set<string>();

  const byKey = (key: DocumentKey) => held.find((one) => nameOf(one.document.key) === nameOf(key));
  const newestFirst = (one: Held, other: Held) =>
    other.document.receivedAt.getTime() - one.document.receivedAt.getTime() || other.document.id - one.document.id;
  const tell = (one: Held) => events.push(receivedInvoiceChanged(one.document, one.conflicts));

  function change(one: Held, changes: Partial<ReceivedDocument>): void {
    one.document = { ...one.document, ...changes, revision: one.document.revision + 1 };
    tell(one);
  }

  function filtered(filter: ReceivedFilter): Held[] {
    return held.filter(
      ({ document: { key, receivedAt } }) =>
        key.env === filter.env &&
        key.buyerRnc === filter.buyerRnc &&
        (filter.issuerRnc === null || key.issuerRnc === filter.issuerRnc) &&
        receivedAt >= filter.from &&
        receivedAt < filter.until,
    );
  }

  return {
    events,
    refusals,
    async holder(key) {
      return byKey(key)?.document ?? null;
    },
    async add(document) {
      if (byKey(document.key) !== undefined) return null;
      const decision = early.get(nameOf(document.key));
      const added: Held = {
        document: {
          ...document,
          id: held.length + 1,
          revision: 1,
          answeredAt: null,
          answerDueAt: null,
          approvalStatus: decision?.approval_status ?? 'pending',
          approvalDatetime: dateOf(decision?.approval_datetime),
        },
        approvalRevision: decision?.revision ?? 0,
        conflicts: [],
        competing: new Map(),
      };
      held.push(added);
      tell(added);
      return added.document.id;
    },
    async refuse(refusal) {
      refusals.push(refusal);
      const holder = held.find((one) => one.document.id === refusal.holderId);
      const { sha256, xmlPath } = refusal;
      if (!refusal.competes || holder === undefined) return;
      const certificateSubject = refusal.signer?.subject ?? '';
      if (!holder.competing.has(sha256))
        holder.competing.set(sha256, { sha256, receivedAt: refusal.receivedAt, certificateSubject });
      if (xmlPath === null) return;
      if (holder.conflicts.some((conflict) => conflict.sha256 === sha256)) return;
      holder.conflicts.push({ sha256, receivedAt: refusal.receivedAt, certificateSubject, xmlPath });
      change(holder, {});
    },
    async keptConflict(holderId, sha256) {
      return held[holderId - 1]?.conflicts.find((conflict) => conflict.sha256 === sha256)?.xmlPath ?? null;
    },
    async signedEarlier(holder, fingerprint) {
      return held.some(
        ({ document: { key, signer, receivedAt } }) =>
          key.env === holder.key.env &&
          key.buyerRnc === holder.key.buyerRnc &&
          key.issuerRnc === holder.key.issuerRnc &&
          receivedAt < holder.receivedAt &&
          signer.fingerprint === fingerprint,
      );
    },
    async noteAnswers(answers) {
      for (const { id, leftAt, dueAt } of answers) {
        const one = held[id - 1];
        if (one === undefined || one.document.answeredAt !== null) continue;
        one.document = { ...one.document, answeredAt: leftAt, answerDueAt: dueAt };
      }
    },
    async list(filter, page) {
      const rows = filtered(filter).sort(newestFirst);
      return rows.slice(page.offset, page.offset + page.limit).map(listed);
    },
    async totals(filter) {
      const rows = filtered(filter);
      const sum = rows.reduce((total, one) => total.plus(Decimal.of(one.document.facts.totalAmount)), Decimal.ZERO);
      return { count: rows.length, amount: sum.toFixed(2) };
    },
    async byNumber(search) {
      const rows = held.filter((one) => matches(one.document.key, search));
      return rows.sort(newestFirst).map(listed);
    },
    async latestAcknowledgements(search) {
      const received = held.filter((one) => matches(one.document.key, search)).map(({ document }) => document);
      if (received.length > 0) return received.slice(0, 2).map(({ acknowledgement }) => acknowledgement);
      const refused = refusals.filter((one) => matches(one.key, search));
      const latest = new Map(refused.map(({ key, acknowledgement }) => [key.buyerRnc, acknowledgement]));
      return [...latest.values()].slice(0, 2);
    },
    async decide(decision, eventId) {
      if (handled.has(eventId)) return;
      handled.add(eventId);
      const { env, buyer_rnc: buyerRnc, issuer_rnc: issuerRnc, encf } = decision;
      const key = { env, buyerRnc, issuerRnc, encf };
      const one = byKey(key);
      if (one === undefined) {
        if ((early.get(nameOf(key))?.revision ?? 0) < decision.revision) early.set(nameOf(key), decision);
        return;
      }
      if (one.approvalRevision >= decision.revision) return;
      one.approvalRevision = decision.revision;
      change(one, {
        approvalStatus: decision.approval_status,
        approvalDatetime: dateOf(decision.approval_datetime),
      });
    },
    async unansweredSince(before) {
      const counts = new Map<Environment, number>();
      for (const { document } of held) {
        if (document.approvalStatus !== 'pending' || document.receivedAt >= before) continue;
        counts.set(document.key.env, (counts.get(document.key.env) ?? 0) + 1);
      }
      return [...counts].map(([env, count]) => ({ env, count }));
    },
    async page(afterId, limit) {
      const later = held.filter((one) => one.document.id > afterId).slice(0, limit);
      return later.map(listed);
    },
  };
}

function nameOf(key: DocumentKey): string {
  return `${key.env}:${key.buyerRnc}:${key.issuerRnc}:${key.encf}`;
}

function matches(key: DocumentKey, search: NumberSearch): boolean {
  return (
    key.env === search.env &&
    search.buyerRncs.includes(key.buyerRnc) &&
    key.encf === search.encf &&
    (search.issuerRnc === null || key.issuerRnc === search.issuerRnc)
  );
}

function listed(one: Held): ListedDocument {
  const unkept = [...one.competing.values()]
    .filter(({ sha256 }) => !one.conflicts.some((conflict) => conflict.sha256 === sha256))
    .reverse();
  return { document: one.document, conflicts: [...one.conflicts], unkept, conflictsTotal: one.competing.size };
}

function dateOf(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text);
}
