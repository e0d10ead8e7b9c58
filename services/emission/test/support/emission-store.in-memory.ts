import type { BusEvent } from '@ecf/bus';
import { EMISSION_STATES } from '@ecf/domain';
import { type AlarmKind, type Attempt, type DocumentKey, documentKey } from '../../src/attempt/attempt.js';
import type { EmissionStore, RecordedExchange } from '../../src/attempt/ports.js';
import { copiesOf } from '../../src/attempt/submission-history.js';
import { changesPublished, isLate, pastOf } from '../../src/attempt/transitions.js';

export interface InMemoryEmissionStore extends EmissionStore {
  /** Events appended so far, oldest first. */
  readonly events: readonly BusEvent[];
  readonly exchanges: readonly (RecordedExchange & { emissionId: number })[];
  all(): Attempt[];
}

/** Emissions in memory, for tests above the store. Behaves like the adapter for PostgreSQL. */
export function createInMemoryEmissionStore(describe: (attempt: Attempt) => BusEvent): InMemoryEmissionStore {
  const latest = new Map<string, Attempt>();
  const former: Attempt[] = [];
  const sealed = new Map<string, Uint8Array>();
  const events: BusEvent[] = [];
  const exchanges: (RecordedExchange & { emissionId: number })[] = [];
  let ids = 0;

  const sealedKey = ({ emissionId, attempt }: Attempt) => `${emissionId}/${attempt}`;
  const undecided = () => [...latest.values()].filter(({ state }) => !EMISSION_STATES[state].decided);
  const put = (attempt: Attempt) => latest.set(documentKey(attempt), attempt);

  const awake = (attempt: Attempt) => ({ ...attempt, nextActionAt: new Date(0), revision: attempt.revision + 1 });

  const attemptsOn = (document: string | null) =>
    [...former, ...latest.values()].filter(({ modifies }) => modifies === document);

  return {
    events,
    exchanges,
    all: () => [...latest.values()],
    async nextId() {
      ids += 1;
      return ids;
    },
    findNumber: async (key) => ({
      attempt: latest.get(documentKey(key)) ?? null,
      isDetached: false,
      cancelledBy: null,
      run: 1,
    }),
    find: async (key) => latest.get(documentKey(key)) ?? null,
    async begin(attempt, certificate, _files, notesFound = null) {
      const present = latest.get(documentKey(attempt));
      const free = present === undefined ? attempt.attempt === 1 : present.attempt === attempt.attempt - 1;
      if (!free) return false;
      if (notesFound !== null && attemptsOn(attempt.modifies).length !== notesFound) return false;
      if (present !== undefined) former.push(present);
      put(attempt);
      if (certificate !== null) sealed.set(sealedKey(attempt), certificate);
      events.push(describe(attempt));
      return true;
    },
    submissionHistory: async (attempt) => [
      ...former
        .filter(({ emissionId }) => emissionId === attempt.emissionId)
        .flatMap((one) => [...copiesOf(one), pastOf(one)]),
      ...copiesOf(attempt),
    ],
    async save(before, after, answers) {
      const present = latest.get(documentKey(before));
      if (present?.revision !== before.revision || present.attempt !== before.attempt) return false;
      put(after);
      exchanges.push(...answers.map((answer) => ({ ...answer, emissionId: before.emissionId })));
      if (changesPublished(before, after)) events.push(describe(after));
      if (!EMISSION_STATES[after.state].decided) return true;
      if (!after.hasOwnCertificate) sealed.delete(sealedKey(after));
      for (const note of undecided()) {
        if (note.modifies === documentKey(after) && note.state === 'held') put(awake(note));
      }
      return true;
    },
    async claimDue({ now, until, owner, limit }) {
      const due = undecided().filter(({ nextActionAt }) => nextActionAt !== null && nextActionAt <= now);
      due.sort((one, other) => (one.nextActionAt?.getTime() ?? 0) - (other.nextActionAt?.getTime() ?? 0));
      return due.slice(0, limit).map((attempt) => {
        const claimed = { ...attempt, owner, nextActionAt: until, revision: attempt.revision + 1 };
        put(claimed);
        return claimed;
      });
    },
    sealedCertificate: async (attempt) => sealed.get(sealedKey(attempt)) ?? null,
    async eraseCertificate(key) {
      const attempt = latest.get(documentKey(key));
      if (attempt === undefined) return;
      sealed.delete(sealedKey(attempt));
      put({ ...attempt, hasOwnCertificate: false });
    },
    async keepExchanges({ emissionId }, answers) {
      exchanges.push(...answers.map((answer) => ({ ...answer, emissionId })));
    },
    async notesOn(key: DocumentKey) {
      const attempts = attemptsOn(documentKey(key));
      const notes = attempts
        .filter((attempt) => !former.includes(attempt))
        .map(({ encf, ecfType, state, facts }) => ({ encf, ecfType, state, totalAmount: facts.summary.total_amount }));
      return { notes, attempts: attempts.length };
    },
    async otherIssuer({ accountId, taxpayers }, { env, issuerRnc, encf }) {
      const others = [...latest.values()].filter(
        (one) => one.accountId === accountId && one.env === env && one.encf === encf && one.issuerRnc !== issuerRnc,
      );
      return others.find((one) => taxpayers?.includes(one.issuerRnc) ?? true)?.issuerRnc ?? null;
    },
    async resume(issuerRnc) {
      for (const attempt of undecided()) {
        const mayLack = attempt.alarm === 'no-certificate' || (isLate(attempt) && attempt.nextActionAt !== null);
        const waits = mayLack && attempt.state !== 'sending' && attempt.state !== 'resending';
        if (waits && attempt.issuerRnc === issuerRnc) put(awake(attempt));
      }
    },
    async backlog() {
      const counts = <K>(keys: readonly K[]) =>
        [...new Set(keys)].map((key) => [key, keys.filter((k) => k === key).length] as const);
      const open = undecided();
      const alarms = open.flatMap(({ alarm }) => (alarm === null ? [] : [alarm]));
      return {
        undecided: counts(open.map(({ state }) => state)).map(([state, count]) => ({ state, count })),
        alarms: counts<AlarmKind>(alarms).map(([kind, count]) => ({ kind, count })),
        oldestCommittedAt: open.length === 0 ? null : new Date(Math.min(...open.map((a) => a.committedAt.getTime()))),
      };
    },
  };
}
