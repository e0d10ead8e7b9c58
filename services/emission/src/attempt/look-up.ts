/** State transitions after the look-up of a full document whose trackId never arrived. */
import type { Answer, DocumentState, TrackIdEntry, TrackIdList } from '@ecf/authority-client';
import type { Attempt } from './attempt.js';
import { hasEnded } from './submission-history.js';
import {
  applyTransition,
  causeOfLookUp,
  explained,
  inProcess,
  isLookedUp,
  leftToOperator,
  notFound,
  pauseOf,
  postponed,
  type Timing,
  waitedLongEnough,
} from './transitions.js';

/** The answers to the look-up of a lost full document. */
export interface LookUp {
  readonly trackIds: Answer<TrackIdList>;
  /** The state by our own security code; null if it was not queried, see {@link stateIsNeeded}. */
  readonly state: Answer<DocumentState> | null;
}

/** The authority states only the day of receipt, and its clock may differ from ours by an hour. */
const RECEIVED_LATEST_MS = 25 * 3_600_000;

/**
 * Whether the document was received on an earlier day than the attempt. Another system may have sent it, or a clock
 * or date format is wrong. So it is adopted only after a check of the security code.
 */
function receivedBefore(attempt: Attempt, { dateReceived }: TrackIdEntry): boolean {
  return dateReceived !== null && Date.parse(dateReceived) + RECEIVED_LATEST_MS < attempt.committedAt.getTime();
}

/**
 * trackIds that may belong to the attempt, best candidate first. Known trackIds of submissions that have ended are left out, and
 * entries received before the attempt come last. The caller removes trackIds that are not kept with the attempt.
 */
function unknownTrackIds(attempt: Attempt, list: TrackIdList): TrackIdEntry[] {
  const ended = new Set(attempt.past.filter((one) => hasEnded(one, attempt)).map(({ trackId }) => trackId));
  const rank = { Aceptado: 0, AceptadoCondicional: 0, EnProceso: 1, 'No encontrado': 3, Rechazado: 2 } as const;
  return (
    list.trackIds
      .filter((entry) => !ended.has(entry.trackId))
      // Our document was sent last, so the latest of equal rank comes first.
      .reverse()
      .sort(
        (one, other) =>
          Number(receivedBefore(attempt, one)) - Number(receivedBefore(attempt, other)) ||
          rank[one.status] - rank[other.status] ||
          (other.dateReceived ?? '').localeCompare(one.dateReceived ?? ''),
      )
  );
}

/**
 * Whether the state has to be queried too. A decided document may come from another system, which its security code
 * shows. Before a resend the second query confirms that the authority does not have the document.
 */
export function stateIsNeeded(attempt: Attempt, trackIds: Answer<TrackIdList>, timing: Timing): boolean {
  if (trackIds.outcome !== 'verdict') return false;
  const [candidate] = unknownTrackIds(attempt, trackIds.verdict);
  if (candidate !== undefined) return candidate.status !== 'EnProceso' || receivedBefore(attempt, candidate);
  return attempt.state === 'unknown' && waitedLongEnough(attempt, timing);
}

/** The transition after the look-up of a full document whose trackId never arrived. */
export function afterLookUp(attempt: Attempt, lookUp: LookUp, timing: Timing): Attempt | null {
  const after = lookUpTransition(attempt, lookUp, timing);
  const { trackIds, state } = lookUp;
  const last = trackIds.outcome === 'verdict' && state !== null ? state : trackIds;
  return after && explained(after, causeOfLookUp(last));
}

function lookUpTransition(attempt: Attempt, { trackIds, state }: LookUp, timing: Timing): Attempt | null {
  if (!isLookedUp(attempt)) return null;
  if (trackIds.outcome === 'refused' && trackIds.code === 'service_not_in_environment')
    return leftToOperator(attempt, timing);
  if (trackIds.outcome !== 'verdict') return postponed(attempt, timing, pauseOf(trackIds));
  if (state !== null && (state.outcome === 'unknown' || state.outcome === 'unauthorized')) {
    return postponed(attempt, timing, pauseOf(state));
  }
  const known = state?.outcome === 'verdict' ? state.verdict : null;
  const candidates = unknownTrackIds(attempt, trackIds.verdict).filter(
    (entry) => known !== null || !receivedBefore(attempt, entry),
  );
  if (candidates.length > 0) {
    if (!areForeign(attempt, candidates, known)) {
      const ours = candidateOf(candidates, known);
      return ours === undefined ? postponed(attempt, timing) : inProcess(attempt, ours.trackId, true, timing);
    }
    const refused = attempt.past.at(-1);
    if (attempt.state === 'arrived' && refused !== undefined && known !== null && isForeign(attempt, known)) {
      // Another system has the number, so the refusal of our copy was its verdict.
      return applyTransition(attempt, 'rejected-used', {
        verdict: refused,
        trackId: refused.trackId,
        past: attempt.past.slice(0, -1),
      });
    }
    return notFound(attempt, timing);
  }
  // The authority knows the document but lists no trackId yet. The document arrived, so it is not sent again.
  if (known !== null && known.status !== 'No encontrado') return postponed(attempt, timing);
  return notFound(attempt, timing);
}

/**
 * Whether the state query shows that no candidate is ours. A rejected document counts as never received, so after one
 * of our copies arrived the state may be "not found".
 */
function areForeign(attempt: Attempt, [best]: readonly TrackIdEntry[], known: DocumentState | null): boolean {
  if (known === null) return false;
  if (known.status !== 'No encontrado') return isForeign(attempt, known);
  return attempt.state !== 'arrived' || best?.status !== 'Rechazado' || receivedBefore(attempt, best);
}

/** The candidate with the same state as our document; undefined if it is not listed yet. */
function candidateOf(candidates: readonly TrackIdEntry[], known: DocumentState | null): TrackIdEntry | undefined {
  if (known === null || known.status === 'No encontrado') return candidates[0];
  const rejected = known.status === 'Rechazado';
  const decided = candidates.filter(({ status }) => status !== 'EnProceso');
  const alike = decided.find(({ status }) => (status === 'Rechazado') === rejected);
  return alike ?? candidates.find(({ status }) => status === 'EnProceso');
}

function isForeign(attempt: Attempt, known: DocumentState): boolean {
  return known.securityCode !== null && known.securityCode !== attempt.facts.securityCode;
}
