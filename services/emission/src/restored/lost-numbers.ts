import type { XmlStore } from '@ecf/archive';
import type { NumberRange } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { Restore } from '@ecf/postgres';
import type { TokenSource } from '../credentials/token-source.js';
import { EmissionError } from '../errors.js';
import type { Authority } from '../sending/ports.js';
import { archivedNumbers } from './archived-numbers.js';
import { mayBeIssued, mayBeLostOf } from './known-documents.js';
import type { LostDocument, LostNumberStore, LostNumbers, RangePosition, Series } from './ports.js';

/**
 * Unknown numbers in a row after which the authority has no later one. Numbers are drawn in order, so between two that the
 * authority has it lacks only numbers in flight (at most 250 of an account on one instance, with the default of
 * MAX_SUBMISSIONS), and numbers that were returned or cancelled.
 */
const UNKNOWN_IN_A_ROW = 250;
/** Numbers that are queried at the same time. */
const AT_A_TIME = 10;

/** Idempotency keys are kept for as long, so a repeat under a lost one is found for as long. */
const KEPT_KEYS_MS = 30 * 24 * 3_600_000;

export function createLostNumbers({
  store,
  authority,
  archive,
  restore,
  pending,
  clock,
  log,
}: {
  readonly store: LostNumberStore;
  readonly authority: Pick<Authority, 'queryTrackIds' | 'queryState'>;
  readonly archive: Pick<XmlStore, 'list'>;
  readonly restore: () => Restore | null;
  /** Receives the work in flight. */
  readonly pending: Set<Promise<unknown>>;
  readonly clock: () => Date;
  readonly log: { info(facts: object, message: string): void; warn(facts: object, message: string): void };
}): LostNumbers {
  const running = new Set<string>();
  /** Archived numbers of ranges whose comparison has not ended: no automatic number is stored meanwhile. */
  const archivedOf = new Map<string, ReadonlySet<number>>();
  /** Series of which the log says that they wait for an operator. */
  const logged = new Set<string>();

  return {
    refuse(series, ranges, tokens) {
      if (!canBeQueried(series)) throw waitsForOperator(series);
      const key = JSON.stringify(series);
      if (!running.has(key)) {
        running.add(key);
        const work = compare(series, ranges, tokens)
          .catch((error: unknown) =>
            log.warn({ ...series, err: error }, 'numbers wait for the authority after a restore'),
          )
          .finally(() => {
            running.delete(key);
            pending.delete(work);
          });
        pending.add(work);
      }
      throw waits(series, restore(), false);
    },
    async refuseUnknown(series, { date_issued }, batchAt) {
      const present = recent();
      // The documents of certification have no fiscal effect, and fixed dates.
      if (present === null || series.env === 'CerteCF' || !mayBeLostOf(present, date_issued)) return;
      const statement = await store.statement(series);
      if (statement === null && canBeQueried(series)) return;
      if (statement === null) throw waitsForOperator(series);
      const isOldLine = batchAt !== null && batchAt <= present.restoredAt;
      if (isOldLine || !statement.areSalesCompared) throw mayBeIssued(present, isOldLine);
    },
    async alike(series, summary) {
      return recent() === null ? [] : store.alike(series, summary);
    },
  };

  function waitsForOperator(series: Series): EmissionError {
    const key = JSON.stringify(series);
    if (!logged.has(key)) log.warn(series, 'numbers wait for an operator after a restore');
    logged.add(key);
    return waits(series, restore(), true);
  }

  /** The restore; null if no repeat of a sale before it is expected any more. */
  function recent(): Restore | null {
    const present = restore();
    const isOver = present === null || present.restoredAt.getTime() + KEPT_KEYS_MS < clock().getTime();
    return isOver ? null : present;
  }

  async function compare(series: Series, ranges: readonly NumberRange[], tokens: TokenSource): Promise<void> {
    for (const range of await store.positions(series, ranges)) {
      const next = await nextOf(series, range, tokens);
      await store.release(series, range, next);
      archivedOf.delete(JSON.stringify([series, range]));
      log.info({ ...series, next }, 'automatic numbers continue after a restore');
    }
  }

  /** The number after the last one of the range that is used. */
  async function nextOf(series: Series, range: RangePosition, tokens: TokenSource): Promise<number> {
    const archived = await archivedIn(series, range);
    let end = range.next;
    for (let first = range.next, unknown = 0; first <= range.last && unknown < UNKNOWN_IN_A_ROW; first += AT_A_TIME) {
      const last = Math.min(first + AT_A_TIME - 1, range.last);
      const taken = await store.taken(series, first, last);
      const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
      const open = numbers.filter((number) => !taken.used.includes(number) && !taken.lost.includes(number));
      const found = (await Promise.all(open.map((number) => find(series, number, tokens)))).filter(
        (one) => one !== null,
      );
      if (found.length > 0) await store.save(series, found);
      const lost = new Set([...taken.lost, ...found.map(({ encf }) => Number(encf.slice(3)))]);
      for (const number of numbers) {
        // A number that was stated or cancelled by the caller says nothing about the automatic ones.
        if (taken.used.includes(number)) continue;
        const isGiven = lost.has(number) || archived.has(number);
        if (isGiven) end = number + 1;
        unknown = isGiven ? 0 : unknown + 1;
      }
    }
    return end;
  }

  /** The numbers of {@link archivedNumbers}, listed once for all tries. */
  async function archivedIn(series: Series, range: RangePosition): Promise<ReadonlySet<number>> {
    const key = JSON.stringify([series, range]);
    const present = restore();
    const known = archivedOf.get(key);
    if (known !== undefined || present === null) return known ?? new Set();
    const listed = await archivedNumbers(archive, series, range, present);
    archivedOf.set(key, listed);
    return listed;
  }

  /** The document that the authority has under the number; null if it has none. */
  async function find(series: Series, number: number, tokens: TokenSource): Promise<LostDocument | null> {
    const { env, issuerRnc, ecfType } = series;
    const encf = `E${ecfType}${String(number).padStart(10, '0')}`;
    const token = await tokens.get();
    const query = { env, issuerRnc, encf, token };
    const submissions = await authority.queryTrackIds(query);
    if (submissions.outcome === 'unauthorized') await tokens.refused(token);
    if (submissions.outcome !== 'verdict') throw new Error(`the authority does not say whether it has ${encf}`);
    const { trackIds } = submissions.verdict;
    if (trackIds.length === 0) return null;
    if (trackIds.some(({ status }) => status === 'EnProceso'))
      throw new Error(`the authority has not decided ${encf} yet`);
    if (trackIds.every(({ status }) => status === 'Rechazado'))
      return { encf, totalAmount: null, buyer: null, issuedOn: null };
    const state = await authority.queryState(query);
    if (state.outcome === 'unauthorized') await tokens.refused(token);
    if (state.outcome !== 'verdict' || state.verdict.totalAmount === null)
      throw new Error(`the authority does not show ${encf}, which it accepted`);
    const { totalAmount, buyerRnc, foreignId, dateIssued } = state.verdict;
    return { encf, totalAmount, buyer: buyerRnc ?? foreignId, issuedOn: dateIssued?.slice(0, 10) ?? null };
  }
}

/** Whether the authority can be queried by number alone: CerteCF has no query, and that for a type 32 requires its security code. */
function canBeQueried({ env, ecfType }: Series): boolean {
  return env !== 'CerteCF' && ecfType !== '32';
}

function waits({ env, ecfType }: Series, restore: Restore | null, forOperator: boolean): EmissionError {
  const state = restore === null ? '' : ` to its state of ${toIsoDominican(restore.backupAt)}`;
  const until = forOperator
    ? 'the authority cannot be asked which of them were used since, so an operator has to state the next one (docs/backup.md, After a restore)'
    : 'the gateway queries the authority for the ones used since';
  return new EmissionError(
    'service_unavailable',
    `The gateway was restored${state}. Automatic numbers of type ${ecfType} in ${env} wait: ${until}. This call used no number; repeat it unchanged after Retry-After. Documents that state their eNCF do not wait.`,
    { retryAfterSeconds: forOperator ? 300 : 5 },
  );
}
