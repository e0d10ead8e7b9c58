import type { ErrorDetail } from '@ecf/contracts';
import { ISSUING_RULES } from '@ecf/domain';
import { EmissionError } from '../errors.js';
import type { IssueJson } from '../issue/issue-json.js';
import { type DueLine, keyOfLine, type LineOutcome, type Postponed } from './batch.js';
import type { BatchStore, LineRate } from './ports.js';

/** The public answer to an error: what `/fe_Submit` would say. */
export interface PublicError {
  readonly status: number;
  readonly code: string;
  readonly detail: ErrorDetail;
  readonly messages: readonly string[];
  readonly faults: readonly unknown[];
  /** Seconds after which the same request may succeed; null if it never does. */
  readonly retryAfterSeconds: number | null;
}

export type ProcessLine = (line: DueLine) => Promise<void>;

const LONGEST_PAUSE_MS = 60_000;
/** Unexpected failures after which the document is refused. */
const UNEXPECTED_FAILURES = 5;
/** A hanging database may commit until its statement timeout. */
const COMMITS_WITHIN_MS = 35_000;
/**
 * Readings that ended their thread or process, after which the document is refused. Only readings in a worker are counted, from their
 * begin to their end, a second at most: a restart rarely meets one, and hardly ever the same line twice.
 */
const ENDED_READINGS = 2;

/**
 * Issues the document of a line as `/fe_Submit` would. An answer with Retry-After keeps the line pending with growing
 * pauses. So does an undecided document to which the line refers, if it refuses warnings. Any other error refuses the line. A
 * line over the limit of its account waits until the account may issue again. A line that a crash interrupted shows the attempt
 * that it made. If it made none, it is issued now; if its batch is cancelled, it is refused.
 */
export function createProcessLine(
  {
    batches,
    lineRate,
    clock,
    random,
  }: {
    readonly batches: Pick<BatchStore, 'record' | 'postpone' | 'attemptOf' | 'countReading'>;
    readonly lineRate: Pick<LineRate, 'count'>;
    readonly clock: () => Date;
    readonly random: () => number;
  },
  issueJson: IssueJson,
  publicError: (error: unknown) => PublicError,
): ProcessLine {
  return async (line) => {
    const made = line.begun ? await batches.attemptOf(line) : null;
    const outcome = made ?? refusedBefore(line) ?? (await issued(line));
    if (outcome.outcome === 'postponed') await batches.postpone(line, outcome);
    else await batches.record(line, outcome);
  };

  async function issued(line: DueLine): Promise<LineOutcome | Postponed> {
    const { env, caller, document, validate, mayWait, refusesWarnings, postponements, failures, readings } = line;
    try {
      const freeAt = await lineRate.count(caller.accountId);
      if (freeAt !== null) return { outcome: 'postponed', dueAt: freeAt, begun: false, failed: false, limited: true };
      const data = document as Buffer;
      const batchLine = keyOfLine(line);
      const result = await issueJson({
        caller,
        env,
        data,
        certificate: null,
        dryRun: validate,
        ownReference: null,
        idempotencyKey: line.hasKey ? batchLine : null,
        mayWait,
        refusesWarnings,
        batchLine,
        batchAt: line.createdAt,
        watchReading: {
          begins: () => batches.countReading(line, 'begins'),
          ended: () => batches.countReading(line, 'ended'),
        },
      });
      if (result.outcome === 'checked') return { outcome: 'validated', warnings: result.warnings };
      const { emissionId, attempt } = result.attempt;
      return { outcome: 'submitted', emissionId, attempt };
    } catch (error) {
      const { retryAfterSeconds, status, code, detail, messages, faults } = publicError(error);
      const isUnexpected = code === 'internal_error' && failures < UNEXPECTED_FAILURES;
      const isTriedAgain = code === 'document_too_costly' && readings + 1 < ENDED_READINGS;
      if (retryAfterSeconds === null && !isUnexpected && !isTriedAgain && (validate || !isUndecided(error)))
        return { outcome: 'refused', error: { status, code, detail }, messages, faults };
      const pause = Math.min((retryAfterSeconds ?? 1) * 1_000 * 2 ** postponements, LONGEST_PAUSE_MS);
      // A commit may still happen, so the line first waits until its attempt can be found.
      const least = code === 'commit_unconfirmed' ? COMMITS_WITHIN_MS : 0;
      const dueAt = new Date(clock().getTime() + Math.max(pause * (0.75 + random() / 2), least));
      return {
        outcome: 'postponed',
        dueAt,
        begun: code === 'commit_unconfirmed' || isUnexpected,
        failed: isUnexpected,
        limited: false,
      };
    }
  }
}

/** Whether a line that refuses warnings only has to wait until the document to which it refers is decided. */
function isUndecided(error: unknown): boolean {
  const faults = error instanceof EmissionError ? error.faults : [];
  return faults.length > 0 && faults.every(({ rule }) => rule === ISSUING_RULES.referencePending.name);
}

/** The refusal of a line that cannot be issued, whatever its document says. */
function refusedBefore({ document, cancelled, readings, refusedReference }: DueLine): LineOutcome | null {
  if (cancelled) return CANCELLED;
  if (document === null)
    return refusal(413, 'body_too_large', 'The document is larger than MAX_BODY_BYTES allows; send a smaller one.');
  if (readings >= ENDED_READINGS)
    return refusal(
      400,
      'document_too_costly',
      `The service that checked this document ended ${ENDED_READINGS} times meanwhile; send one with fewer values and shorter texts. No number was used.`,
    );
  if (refusedReference !== null)
    return refusal(
      409,
      'reference_refused',
      `The document ${refusedReference} of this batch, to which this one refers, is refused; correct it and send both again.`,
    );
  return null;
}

/** The outcome of a line that made no attempt before its batch was cancelled. */
export const CANCELLED = refusal(409, 'batch_cancelled', 'The batch was cancelled before this line began.');

function refusal(status: number, code: string, detail: string): LineOutcome {
  return { outcome: 'refused', error: { status, code, detail }, messages: [detail], faults: [] };
}
