import type { Schemas } from '../../data/gateway.js';
import type { Invoice } from '../../data/invoices.js';

type Attempt = Schemas['RawTrackIdList']['track_ids'][number];

/** Something that happened to a document. `time` is null if it is not known. */
export type Moment = { readonly time: string | null } & (
  | { readonly kind: 'created' | 'signed' }
  | { readonly kind: 'submitted'; readonly trackId: string | null }
  | { readonly kind: 'queried'; readonly count: number }
  | { readonly kind: 'decided'; readonly status: Schemas['InvoiceStatus'] }
  | { readonly kind: 'acknowledged'; readonly acknowledgement: Schemas['Acknowledgement'] }
  | { readonly kind: 'approved'; readonly answer: Schemas['ApprovalAnswer'] }
);

/** What happened to a document, oldest first. Of each submission it has the sending, its queries as one moment, and the decision. */
export function timelineOf(
  invoice: Pick<Invoice, 'created_at' | 'signed_at'>,
  attempts: readonly Attempt[],
  acknowledgement: Schemas['Acknowledgement'] | undefined,
  answers: readonly Schemas['ApprovalAnswer'][],
): Moment[] {
  return [
    { kind: 'created', time: invoice.created_at },
    { kind: 'signed', time: invoice.signed_at },
    ...attempts.flatMap(momentsOf),
    ...(acknowledgement === undefined
      ? []
      : [{ kind: 'acknowledged', time: acknowledgement.received_at, acknowledgement } as const]),
    ...answers.map((answer) => ({ kind: 'approved', time: answer.received_at, answer }) as const),
  ];
}

function momentsOf({ submitted_at, track_id, status, final, raw }: Attempt): Moment[] {
  const queries = raw.filter(({ operation }) => operation.startsWith('query'));
  const asked: Moment = { kind: 'queried', count: queries.length, time: queries.at(-1)?.at ?? null };
  return [
    ...(submitted_at === null ? [] : [{ kind: 'submitted', time: submitted_at, trackId: track_id } as const]),
    ...(queries.length === 0 ? [] : [asked]),
    ...(final ? [{ kind: 'decided', time: raw.at(-1)?.at ?? null, status } as const] : []),
  ];
}
