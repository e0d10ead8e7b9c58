import type { PendingDocument } from '@ecf/archive';
import type { NumberRange } from '@ecf/contracts';
import { type DocumentNode, type DocumentSummary, type EcfType, type Fault, toCalendarDate } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { Attempt, DocumentKey, NewAttempt } from '../attempt/attempt.js';
import type { EmissionStore, NumberUse, ReachCheckpoint } from '../attempt/ports.js';
import type { Recorder } from '../attempt/recorder.js';
import type { TokenSource } from '../credentials/token-source.js';
import { confirming, EmissionError, MAX_ROUNDS, overtaken, refuseFaults, requireCaller } from '../errors.js';
import { NumberLost } from '../numbers/automatic-number.js';
import { checkNumberRanges } from '../numbers/number-ranges.js';
import type { Drawn, KeyBinding, NumberStore } from '../numbers/ports.js';
import { checkReference, type ReferenceCheck, reducedDocument } from '../references/referenced-document.js';
import type { FollowUp } from '../sending/follow-up.js';
import type { SendAttempt } from '../sending/send-attempt.js';
import type { CompareWithAttempt, SentDocument } from './compare-documents.js';
import type { KeyedQueue } from './keyed-queue.js';
import { decideRepeat, numberConflict, submissionOfKey } from './repeats.js';

/** A document that is to be issued under its number. */
export interface Submission {
  readonly document: {
    readonly key: DocumentKey;
    readonly type: EcfType;
    readonly tree: DocumentNode;
    readonly summary: DocumentSummary;
  };
  /** The same document, for the comparison with a stored one. */
  readonly sent: SentDocument;
  readonly caller: Caller;
  /** The number ranges of the issuer. */
  readonly ranges: readonly NumberRange[];
  /** Null if the caller chose the number. Otherwise it was drawn for this document alone, so it needs no look-up. */
  readonly drawn: Drawn | null;
  /** The idempotency key of a document that states its number; null without one. */
  readonly idempotencyKey: string | null;
  readonly dryRun: boolean;
  /** Aborted when the caller leaves: a document that is not begun then is not issued. */
  readonly signal?: AbortSignal | undefined;
}

/** Signed bytes, with the token and facts for their transmission. */
export interface Signed {
  readonly fresh: NewAttempt;
  /** Documents of the attempt with their archive paths, the full document first. */
  readonly files: readonly PendingDocument[];
  /** The bytes for the authority: the full document, or the summary. */
  readonly sent: Uint8Array;
  readonly sealedCertificate: Uint8Array | null;
  /** Null if the authority is unreachable and the document waits for it. */
  readonly token: string | null;
  readonly tokens: TokenSource;
  /** The end of announced maintenance, for a document that waits. */
  readonly maintenanceUntil: Date | null;
  /** The authority has this very document, which a restore of the database lost. It is looked up and not sent. */
  readonly isKnown: boolean;
}

/**
 * Signs, or takes the signed bytes. Throws before a number is used if the certificate or the token is missing.
 *
 * @param previous the attempt before it under the same number, which left the number free; null for the first
 */
export type Sign = (reference: ReferenceCheck, previous: Attempt | null) => Promise<Signed>;

export type Issued =
  /** A new attempt was committed, and sent unless it is held or waits for the authority. */
  | { readonly outcome: 'issued'; readonly attempt: Attempt; readonly signed: Signed }
  /** The same document had been issued before. */
  | {
      readonly outcome: 'repeated';
      readonly attempt: Attempt;
      /** Found by its idempotency key, which never makes a new attempt. */
      readonly isBound: boolean;
    }
  /** A dry run that found no fault. */
  | { readonly outcome: 'checked'; readonly warnings: readonly Fault[] };

/** @throws NumberLost if a drawn number went to another document meanwhile */
export type Issue = (submission: Submission, sign: Sign) => Promise<Issued>;

export interface IssuePorts {
  readonly emissions: EmissionStore;
  readonly numbers: NumberStore;
  readonly recorder: Recorder;
  readonly compare: CompareWithAttempt;
  readonly send: SendAttempt;
  readonly followUp: Pick<FollowUp, 'advance'>;
  readonly inOrder: KeyedQueue;
  readonly clock: () => Date;
  readonly checkpoint: ReachCheckpoint;
}

/**
 * The order that loses no document: look the number up, check, get a token, sign, commit with the signed bytes, send,
 * store the answer. If equal requests arrive at the same moment, one takes the number. The others find its attempt
 * and answer with its outcome.
 */
export function createIssue(ports: IssuePorts): Issue {
  const { emissions, numbers, recorder, compare, clock, checkpoint } = ports;

  return async (submission, sign) => {
    const { key, summary } = submission.document;
    const first: FirstRound = { attempts: null };
    // Credit notes on one document are committed one after the other, also by several instances. So a note that exceeds
    // the balance is refused before its number is used.
    const reduced = reducedDocument(key, summary);
    const begin = () => {
      requireCaller(submission.signal);
      return lookUpAndCommit(submission, sign, first);
    };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const begun = await (reduced === null ? begin() : ports.inOrder(`balance:${reduced}`, begin));
      if (begun === null && submission.drawn !== null) throw new NumberLost();
      if (begun === null) continue;
      if (begun.outcome !== 'begun') return begun;
      const { attempt, signed, held } = begun;
      await checkpoint('committed');
      if (signed.isKnown)
        return { outcome: 'issued', attempt: await ports.followUp.advance(attempt, signed.tokens), signed };
      if (held || signed.token === null) return { outcome: 'issued', attempt, signed };
      return {
        outcome: 'issued',
        attempt: await ports.send(attempt, signed.sent, signed.token, signed.tokens),
        signed,
      };
    }
    throw overtaken(
      `Other requests changed ${key.encf}, or the document to which it refers, at each of ${MAX_ROUNDS} tries.`,
    );
  };

  async function useOf(key: DocumentKey): Promise<NumberUse> {
    const found = await emissions.findNumber(key);
    if (found.isDetached) throw detached(key);
    return found;
  }

  /** All steps up to the commit; null if another request took the number, or the balance, meanwhile. */
  async function lookUpAndCommit(submission: Submission, sign: Sign, first: FirstRound): Promise<Begun | null> {
    const { document, sent, caller, ranges, drawn, idempotencyKey, dryRun } = submission;
    const { key, type, tree, summary } = document;
    const found = drawn === null ? await useOf(key) : unused(drawn);
    const { attempt: existing, cancelledBy } = found;
    const attempts = existing?.attempt ?? 0;
    first.attempts ??= attempts;
    const bound = dryRun ? null : await submissionUnderKey(submission);
    if (bound !== null) return { outcome: 'repeated', attempt: bound, isBound: true };
    const repeat = await decideRepeat(existing, (stored) => compare(stored, sent), attempts !== first.attempts);
    if (repeat.outcome === 'conflict') throw numberConflict(repeat.existing, repeat.comparison);
    if (cancelledBy !== null && repeat.outcome !== 'same') throw cancelled(key, cancelledBy);
    const binding = idempotencyKey === null ? null : { idempotencyKey, contentHash: sent.contentHash };
    if (repeat.outcome === 'same' && !dryRun) {
      if (binding !== null && !(await numbers.bind(caller.accountId, binding, repeat.existing))) return null;
      return { outcome: 'repeated', attempt: repeat.existing, isBound: false };
    }

    const faults = checkNumberRanges(ranges, key, type, tree, toCalendarDate(clock()));
    const reference = await checkReference(emissions, { caller, ranges }, key, summary, tree);
    refuseFaults([...faults, ...reference.faults]);
    if (dryRun) return { outcome: 'checked', warnings: reference.warnings };

    const signed = await sign(reference, existing);
    await checkpoint('signed');
    return commit(signed, reference, found, drawn ?? binding);
  }

  async function commit(
    signed: Signed,
    reference: ReferenceCheck,
    { attempt: existing, run }: NumberUse,
    binding: Drawn | KeyBinding | null,
  ): Promise<Begun | null> {
    const { fresh, maintenanceUntil, sealedCertificate, files, isKnown } = signed;
    const held = reference.held && !isKnown;
    const id = existing === null ? await emissions.nextId() : existing.emissionId;
    const attempt = recorder.begin(fresh, existing, id, { held, run, maintenanceUntil, isKnown });
    const isBegun = await confirming(
      `The database became unavailable while it stored ${attempt.encf}, so the document may be in progress. Repeat the very same document to get its outcome; it is never sent twice.`,
      () => emissions.begin(attempt, sealedCertificate, files, reference.notesFound, binding),
    );
    return isBegun ? { outcome: 'begun', attempt, signed, held } : null;
  }

  async function submissionUnderKey({ document, sent, caller, idempotencyKey }: Submission): Promise<Attempt | null> {
    if (idempotencyKey === null) return null;
    const { env, issuerRnc } = document.key;
    const scope = { accountId: caller.accountId, env, idempotencyKey };
    return submissionOfKey(numbers, compare, scope, { issuerRnc, sent, ignored: [] });
  }
}

/** The number of attempts under the number in the first round. */
interface FirstRound {
  attempts: number | null;
}

type Begun =
  | { readonly outcome: 'begun'; readonly attempt: Attempt; readonly signed: Signed; readonly held: boolean }
  | Exclude<Issued, { outcome: 'issued' }>;

/** What a look-up would find under a number that was drawn. */
function unused({ run }: Drawn): NumberUse {
  return { attempt: null, isDetached: false, cancelledBy: null, run };
}

function detached({ env, encf }: DocumentKey): EmissionError {
  return new EmissionError(
    'encf_already_used',
    `${encf} was used in ${env} in a month whose documents were removed from this database. Use another number only for another sale.`,
  );
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
