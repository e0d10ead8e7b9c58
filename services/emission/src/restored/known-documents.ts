import { toCalendarDate, toIsoDominican } from '@ecf/domain';
import type { Restore } from '@ecf/postgres';
import { type Attempt, type DocumentKey, isHeldByAnother, nameOf } from '../attempt/attempt.js';
import type { TokenSource } from '../credentials/token-source.js';
import { EmissionError } from '../errors.js';
import type { Authority } from '../sending/ports.js';

/** A document that is about to be signed or sent. */
interface Wanted {
  readonly key: DocumentKey;
  readonly route: 'ecf' | 'rfce';
  readonly dateIssued: string;
  readonly buyerRnc: string | null;
  /** Of a document that is signed already; null for one that is to be signed. */
  readonly securityCode: string | null;
  /** The attempt under the number that ended before and left it free; null for the first. */
  readonly previous: Attempt | null;
}

/** An accepted document that the authority has under a number. */
export interface KnownDocument {
  readonly securityCode: string;
  /** When it was signed; null if the authority does not say. */
  readonly signedAt: Date | null;
}

/**
 * After a restore: what the authority has under a number for which this database has no document, before another one is sent.
 * A document that was issued after the day of the restore cannot have been lost, so it is not looked up.
 */
export interface KnownDocuments {
  /**
   * The accepted full document under the number; null if there is none.
   *
   * @param token null while the authority is unreachable
   * @throws EmissionError 503 `authority_unreachable` while the authority does not say, or has not decided; 409 `encf_already_used`
   *   if it accepted a document under the number and shows none
   */
  find(wanted: Wanted, token: string | null, tokens: TokenSource): Promise<KnownDocument | null>;
  /** Whether the authority has the summary with this security code. @throws EmissionError 503 `authority_unreachable` */
  hasSummary(wanted: Wanted, securityCode: string, token: string | null, tokens: TokenSource): Promise<boolean>;
  /**
   * The authority has no query for a summary without its security code, so the refusal of another one shows that its number is used.
   *
   * @throws EmissionError 409 `encf_already_used` if the summary was refused for that reason since the restore
   */
  requireUnused(attempt: Attempt): void;
}

export function createKnownDocuments(
  authority: Pick<Authority, 'queryTrackIds' | 'queryState' | 'queryConsumerSummary'>,
  restore: () => Restore | null,
): KnownDocuments {
  /** Whether the document may have been issued before and lost. */
  function mayBeLost({ dateIssued }: Wanted): boolean {
    const present = restore();
    return present !== null && mayBeLostOf(present, dateIssued);
  }

  return {
    async find(wanted, token, tokens) {
      if (wanted.route !== 'ecf' || wanted.key.env === 'CerteCF' || !mayBeLost(wanted)) return null;
      if (token === null) throw notKnown(wanted);
      const query = { ...nameOf(wanted.key), token };
      const submissions = await authority.queryTrackIds(query);
      if (submissions.outcome !== 'verdict') return unanswered(submissions.outcome, wanted, token, tokens);
      const before = new Set(wanted.previous === null ? [] : trackIdsOf(wanted.previous));
      const others = submissions.verdict.trackIds.filter(({ trackId }) => !before.has(trackId));
      if (others.some(({ status }) => status === 'EnProceso')) throw notKnown(wanted);
      if (others.every(({ status }) => status === 'Rechazado')) return null;
      const state = await authority.queryState({
        ...query,
        buyerRnc: wanted.buyerRnc ?? undefined,
        securityCode: wanted.securityCode ?? undefined,
      });
      if (state.outcome === 'refused') throw usedAtAuthority(wanted.key);
      if (state.outcome === 'unauthorized') await tokens.refused(token);
      if (state.outcome !== 'verdict') throw notKnown(wanted);
      const { securityCode, dateSigned } = state.verdict;
      if (securityCode === null) throw notKnown(wanted);
      return { securityCode, signedAt: dateSigned === null ? null : new Date(dateSigned) };
    },
    async hasSummary(wanted, securityCode, token, tokens) {
      if (wanted.route !== 'rfce' || !mayBeLost(wanted)) return false;
      if (token === null) throw notKnown(wanted);
      const answer = await authority.queryConsumerSummary({ ...nameOf(wanted.key), token, securityCode });
      if (answer.outcome !== 'verdict') {
        await unanswered(answer.outcome, wanted, token, tokens);
        return false;
      }
      if (answer.verdict.status === 'EnProceso') throw notKnown(wanted);
      return answer.verdict.status === 'Aceptado' || answer.verdict.status === 'AceptadoCondicional';
    },
    requireUnused({ route, state, verdict, facts, committedAt, ...key }) {
      const present = restore();
      if (route !== 'rfce' || present === null || committedAt < present.restoredAt) return;
      if (isHeldByAnother({ state, verdict }) && mayBeLostOf(present, facts.summary.date_issued))
        throw usedAtAuthority(key);
    },
  };
}

/** Whether a restore may have lost a document of the date: it cannot have lost one that was issued after its day. */
export function mayBeLostOf({ restoredAt }: Restore, dateIssued: string): boolean {
  return dateIssued <= toCalendarDate(restoredAt);
}

/** A refused token of the caller, or a refused query, is left to the send, whose answer decides. */
async function unanswered(outcome: string, wanted: Wanted, token: string, tokens: TokenSource): Promise<null> {
  if (outcome === 'unknown') throw notKnown(wanted);
  if (outcome === 'unauthorized' && (await tokens.refused(token))) throw notKnown(wanted);
  return null;
}

function trackIdsOf({ trackId, past }: Attempt): (string | null)[] {
  return [trackId, ...past.map((one) => one.trackId)];
}

function notKnown({ key }: Wanted): EmissionError {
  return new EmissionError(
    'authority_unreachable',
    `The gateway was restored to an older state, and the authority does not say yet whether it has a document under ${key.encf}. No document was signed; repeat the same request after Retry-After.`,
  );
}

/** The answer to a document under a number for which the authority has another one. */
export function usedAtAuthority({ encf }: DocumentKey): EmissionError {
  return new EmissionError(
    'encf_already_used',
    `The authority accepted another document under ${encf}, which this gateway lost when it was restored to an older state. This one was not submitted. If it is the same sale, keep the document that you have under ${encf}; use another number only for another sale.`,
  );
}

/** The answer to a document without number that may be one of the lost documents. */
export function mayBeLost(candidates: readonly string[]): EmissionError {
  return new EmissionError(
    'encf_already_used',
    `The gateway was restored to an older state and lost the idempotency-keys since. The authority accepted ${candidates.join(', ')} with the same total, buyer and date, so this document may have been issued already. It was not submitted, and no number was used. If it is another sale, state its eNCF.`,
  );
}

/** The answer to a sale without number that may have been issued after the backup, and whose type was not compared. */
export function mayBeIssued({ backupAt, restoredAt }: Restore, isOldLine: boolean): EmissionError {
  const why = isOldLine ? 'its batch came before the restore' : 'it is dated up to the day of the restore';
  return new EmissionError(
    'encf_already_used',
    `The gateway was restored at ${toIsoDominican(restoredAt)} to its state of ${toIsoDominican(backupAt)}. This sale may have been issued in between, because ${why}, and the numbers of its type were not compared with the authority. It was not submitted, and no number was used. Look for it in your records: if it has a number, keep that document; if it has none, state an unused eNCF.`,
  );
}
