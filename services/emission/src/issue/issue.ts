import type { NumberRange } from '@ecf/contracts';
import { type DocumentNode, type DocumentSummary, type EcfType, type Fault, toCalendarDate } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { Attempt, DocumentKey, NewAttempt } from '../attempt/attempt.js';
import { moment } from '../attempt/record-transition.js';
import { beginAttempt } from '../attempt/transitions.js';
import type { TokenSource } from '../credentials/token-source.js';
import { confirming, EmissionError, MAX_ROUNDS, overtaken, refuseFaults, requireCaller } from '../errors.js';
import { NumberLost } from '../numbers/automatic-number.js';
import { checkNumberRanges } from '../numbers/number-ranges.js';
import type { Drawn, Found, KeyBinding, Ports } from '../ports.js';
import { checkReference, type ReferenceCheck, reducedDocument } from '../references/referenced-document.js';
import { type SendPorts, sendAttempt } from '../sending/send-attempt.js';
import type { Comparison } from './compare-documents.js';
import { numberConflict } from './conflicts.js';
import { decideRepeat } from './repeat.js';

/** A document that is to be issued under its number. */
export interface Offer<P extends Prepared> {
  readonly document: {
    readonly key: DocumentKey;
    readonly type: EcfType;
    readonly tree: DocumentNode;
    readonly summary: DocumentSummary;
  };
  readonly caller: Caller;
  /** The number ranges of the issuer. */
  readonly ranges: readonly NumberRange[];
  /** Null if the caller chose the number. Otherwise it was drawn for this document alone, so it needs no look-up. */
  readonly drawn: Drawn | null;
  /** The idempotency key of a document that states its number; null without one. */
  readonly key: OfferKey | null;
  /** Compares the document with that of the stored attempt. */
  compare(existing: Attempt): Promise<Comparison>;
  /**
   * Signs, or takes the signed bytes. Throws before anything is consumed if there is no certificate or token.
   *
   * @param previous the attempt before it under the same number, which left the number free; null for the first
   */
  prepare(reference: ReferenceCheck, previous: Attempt | null): Promise<P>;
}

export interface OfferKey {
  readonly binding: KeyBinding;
  /** The submission that the key names; null if it names none yet. Throws 409 if it names another document. */
  submission(): Promise<Attempt | null>;
  /** Makes the key name the attempt that the same document has already; false if it names one meanwhile. */
  bind(attempt: Attempt): Promise<boolean>;
}

/** Signed bytes, with the token and facts for their transmission. */
export interface Prepared {
  readonly fresh: NewAttempt;
  /** Documents of the attempt with their archive paths. */
  readonly files: readonly { readonly path: string; readonly bytes: Buffer; readonly sha256: string }[];
  /** The bytes for the authority: the full document, or the summary. */
  readonly sent: Buffer;
  readonly sealedCertificate: Uint8Array | null;
  /** Null if the authority is away and the document waits for it. */
  readonly token: string | null;
  readonly tokens: TokenSource;
  /** The end of announced maintenance, for a document that waits. */
  readonly maintenanceUntil?: Date | null;
}

export type Issued<P extends Prepared> =
  /** A new attempt was committed, and sent unless it is held or waits for the authority. */
  | { readonly outcome: 'issued'; readonly attempt: Attempt; readonly prepared: P }
  /** The same document had been issued before. */
  | {
      readonly outcome: 'repeated';
      readonly attempt: Attempt;
      /** Found by its idempotency key, which never makes a new attempt. */
      readonly isBound: boolean;
    }
  /** A dry run that found nothing wrong. */
  | { readonly outcome: 'checked'; readonly warnings: readonly Fault[] };

export type IssuePorts = SendPorts & Pick<Ports, 'owner' | 'inOrder'>;

/**
 * The order that loses nothing: look the number up, check, get a token, sign, commit with the signed bytes, send,
 * store the answer. If equal requests arrive at the same moment, one takes the number. The others find its attempt
 * and answer with its outcome.
 *
 * @param signal aborted when the caller leaves: a document that is not begun then is not issued
 * @throws NumberLost if a drawn number went to another document meanwhile
 */
export async function issue<P extends Prepared>(
  ports: IssuePorts,
  offer: Offer<P>,
  { dryRun, signal }: { dryRun: boolean; signal?: AbortSignal | undefined },
): Promise<Issued<P>> {
  const first: FirstLook = { attempts: null };
  // Credit notes on one document are committed one after the other, also by several instances. So a note that exceeds
  // the balance is refused before its number is used.
  const reduced = reducedDocument(offer.document.key, offer.document.summary);
  const begin = () => {
    requireCaller(signal);
    return lookAndBegin(ports, offer, dryRun, first);
  };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const begun = await (reduced === null ? begin() : ports.inOrder(`balance:${reduced}`, begin));
    if (begun === null && offer.drawn !== null) throw new NumberLost();
    if (begun === null) continue;
    if (begun.outcome !== 'begun') return begun;
    const { attempt, prepared, held } = begun;
    await ports.checkpoint('committed');
    if (held || prepared.token === null) return { outcome: 'issued', attempt, prepared };
    const sent = await sendAttempt(ports, attempt, prepared.sent, prepared.token, prepared.tokens);
    return { outcome: 'issued', attempt: sent, prepared };
  }
  const { encf } = offer.document.key;
  throw overtaken(
    `Other requests changed ${encf}, or the document to which it refers, at each of ${MAX_ROUNDS} tries.`,
  );
}

/** How many attempts the number had when the request looked first. */
interface FirstLook {
  attempts: number | null;
}

type Begun<P> = { outcome: 'begun'; attempt: Attempt; prepared: P; held: boolean };

/** What a look-up would find under a number that was drawn. */
function unused({ run }: Drawn): Found {
  return { attempt: null, cancelledBy: null, run };
}

/** All steps up to the commit; null if another request took the number, or the balance, meanwhile. */
async function lookAndBegin<P extends Prepared>(
  ports: IssuePorts,
  offer: Offer<P>,
  dryRun: boolean,
  first: FirstLook,
): Promise<Begun<P> | Exclude<Issued<P>, { outcome: 'issued' }> | null> {
  const { key, type, tree, summary } = offer.document;
  const found = offer.drawn === null ? await ports.emissions.look(key) : unused(offer.drawn);
  const { attempt: existing, cancelledBy, run } = found;
  const attempts = existing?.attempt ?? 0;
  first.attempts ??= attempts;
  const lostRace = attempts !== first.attempts;
  const bound = dryRun || offer.key === null ? null : await offer.key.submission();
  if (bound !== null) return { outcome: 'repeated', attempt: bound, isBound: true };
  const repeat = await decideRepeat(existing, (stored) => offer.compare(stored), lostRace);
  if (repeat.outcome === 'conflict') throw numberConflict(repeat.existing, repeat.comparison);
  if (cancelledBy !== null && repeat.outcome !== 'same') throw cancelled(key, cancelledBy);
  if (repeat.outcome === 'same' && !dryRun) {
    if (offer.key !== null && !(await offer.key.bind(repeat.existing))) return null;
    return { outcome: 'repeated', attempt: repeat.existing, isBound: false };
  }

  const faults = checkNumberRanges(offer.ranges, key, type, tree, toCalendarDate(ports.clock()));
  const reference = await checkReference(ports.emissions, offer, key, summary, tree);
  refuseFaults([...faults, ...reference.faults]);
  if (dryRun) return { outcome: 'checked', warnings: reference.warnings };

  const prepared = await offer.prepare(reference, existing);
  await ports.checkpoint('signed');
  const attempt = beginAttempt(
    prepared.fresh,
    existing,
    existing === null ? await ports.emissions.nextId() : existing.emissionId,
    moment(ports),
    {
      owner: ports.owner,
      leaseMs: ports.settings.leaseMs,
      held: reference.held,
      run,
      maintenanceUntil: prepared.maintenanceUntil ?? null,
    },
  );
  const binding = offer.drawn ?? offer.key?.binding ?? null;
  const { sealedCertificate, files } = prepared;
  const isBegun = await confirming(
    `The database became unavailable while it stored ${attempt.encf}, so the document may be in progress. Repeat the very same document to get its outcome; it is never sent twice.`,
    () => ports.emissions.begin(attempt, sealedCertificate, files, reference.notesFound, binding),
  );
  if (!isBegun) return null;
  return { outcome: 'begun', attempt, prepared, held: reference.held };
}

function cancelled({ env, encf }: DocumentKey, by: number): EmissionError {
  return new EmissionError(
    'encf_cancelled',
    `${encf} is cancelled in ${env} by cancellation ${by}; see GET /anecf/${by}. Use the next number.`,
  );
}

/** The caller, for the record. */
export function submitter({ keyId, requestId }: Caller): Pick<Attempt, 'submittedBy' | 'requestId'> {
  return { submittedBy: keyId ?? null, requestId: requestId ?? null };
}
