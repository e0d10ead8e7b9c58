/** What becomes of a full document whose trackId never arrived, by what the authority knows under its number. */
import type { Answer, DocumentState, TrackIdEntry, TrackIdList } from '@ecf/authority-client';
import type { Attempt } from './attempt.js';
import {
  applyTransition,
  inProcess,
  isLookedUp,
  leftToOperator,
  type Moment,
  notFound,
  pauseOf,
  postponed,
  waitedLongEnough,
} from './transitions.js';

/** What asking for a lost full document brought. */
export interface LookUp {
  readonly trackIds: Answer<TrackIdList>;
  /** The state by our own security code; null when it was not asked, see {@link stateIsNeeded}. */
  readonly state: Answer<DocumentState> | null;
}

/** The authority names the day of receipt alone, and its clock and ours may differ by an hour. */
const RECEIVED_LATEST_MS = 25 * 3_600_000;

/**
 * Received on a day before the attempt was made: of another system, which used the number first, unless a clock is wrong or a
 * date was written in another order. So it is never taken for the attempt's without its security code.
 */
function receivedBefore(attempt: Attempt, { dateReceived }: TrackIdEntry): boolean {
  return dateReceived !== null && Date.parse(dateReceived) + RECEIVED_LATEST_MS < attempt.committedAt.getTime();
}

/**
 * trackIds under the number that may be the attempt's, best candidate first: those that no earlier submission of ours is
 * known to have; what was received before the attempt was made comes last. Those of earlier submissions that do not stand
 * with the attempt must have been left out of the list.
 */
export function unknownTrackIds(attempt: Attempt, list: TrackIdList): TrackIdEntry[] {
  const known = new Set(attempt.past.map(({ trackId }) => trackId));
  const rank = { Aceptado: 0, AceptadoCondicional: 0, EnProceso: 1, 'No encontrado': 3, Rechazado: 2 } as const;
  return (
    list.trackIds
      .filter((entry) => !known.has(entry.trackId))
      // Ours was sent last: of the same standing the latest comes first.
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
 * Whether the trackIds alone do not decide: a decided document under the number, whatever the decision, may have come from
 * another system, which its security code tells; and before bytes go out again the second service is asked as well.
 */
export function stateIsNeeded(attempt: Attempt, trackIds: Answer<TrackIdList>, moment: Moment): boolean {
  if (trackIds.outcome !== 'verdict') return false;
  const [candidate] = unknownTrackIds(attempt, trackIds.verdict);
  if (candidate !== undefined) return candidate.status !== 'EnProceso' || receivedBefore(attempt, candidate);
  return attempt.state === 'unknown' && waitedLongEnough(attempt, moment);
}

/** The answers to the questions for a full document whose trackId never arrived. */
export function afterLookUp(attempt: Attempt, { trackIds, state }: LookUp, moment: Moment): Attempt | null {
  if (!isLookedUp(attempt)) return null;
  if (trackIds.outcome === 'refused' && trackIds.code === 'service_not_in_environment') return leftToOperator(attempt);
  if (trackIds.outcome !== 'verdict') return postponed(attempt, moment, pauseOf(trackIds));
  if (state !== null && (state.outcome === 'unknown' || state.outcome === 'unauthorized')) {
    return postponed(attempt, moment, pauseOf(state));
  }
  const known = state?.outcome === 'verdict' ? state.verdict : null;
  const candidates = unknownTrackIds(attempt, trackIds.verdict).filter(
    (entry) => known !== null || !receivedBefore(attempt, entry),
  );
  if (candidates.length > 0) {
    if (!areForeign(attempt, candidates, known)) {
      const ours = candidateOf(candidates, known);
      return ours === undefined ? postponed(attempt, moment) : inProcess(attempt, ours.trackId, true);
    }
    const refused = attempt.past.at(-1);
    if (attempt.state === 'arrived' && refused !== undefined && known !== null && isForeign(attempt, known)) {
      // The number belongs to a document that is not ours, so the refusal of our copy was its verdict.
      return applyTransition(attempt, 'rejected-used', {
        verdict: refused,
        trackId: refused.trackId,
        past: attempt.past.slice(0, -1),
      });
    }
    return notFound(attempt, moment);
  }
  // Known by its data, listed under no trackId yet: it arrived, so nothing is sent.
  if (known !== null && known.status !== 'No encontrado') return postponed(attempt, moment);
  return notFound(attempt, moment);
}

/**
 * Whether the state query tells that none of the candidates is the attempt's. A rejected document counts as never received,
 * so that after one of our copies arrived it does not have to be known by its data.
 */
function areForeign(attempt: Attempt, [best]: readonly TrackIdEntry[], known: DocumentState | null): boolean {
  if (known === null) return false;
  if (known.status !== 'No encontrado') return isForeign(attempt, known);
  return attempt.state !== 'arrived' || best?.status !== 'Rechazado' || receivedBefore(attempt, best);
}

/** The candidate that stands as our document does; undefined where that one is not listed yet. */
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
