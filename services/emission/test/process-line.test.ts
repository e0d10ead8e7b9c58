import { expect, it } from '@jest/globals';
import type { DueLine, LineOutcome, Postponed } from '../src/batches/batch.js';
import { createProcessLine, type PublicError } from '../src/batches/process-line.js';

const LINE = { batchId: 1, line: 1, env: 'TesteCF', validate: false, mayWait: false, refusedReference: null } as const;
const due = (other: Partial<DueLine>): DueLine =>
  ({
    ...LINE,
    caller: {},
    document: Buffer.from('{}'),
    postponements: 0,
    failures: 0,
    readings: 0,
    begun: false,
    cancelled: false,
    ...other,
  }) as DueLine;

/** The outcome of a line whose document meets an error. */
async function outcomeOf(
  line: DueLine,
  error: Partial<PublicError>,
  made: LineOutcome | null = null,
  freeAt: Date | null = null,
) {
  const seen: (LineOutcome | Postponed)[] = [];
  const batches = {
    record: async (_: DueLine, outcome: LineOutcome) => void seen.push(outcome),
    postpone: async (_: DueLine, postponed: Postponed) => void seen.push(postponed),
    attemptOf: async () => made,
    countReading: async () => undefined,
  };
  const lineRate = { count: async () => freeAt };
  const ports = { batches, lineRate, clock: () => new Date(0), random: () => 0.5 };
  const rest = { status: 503, code: 'x', detail: 'x', messages: [], faults: [], retryAfterSeconds: null };
  await createProcessLine(
    ports,
    () => Promise.reject(new Error('x')),
    () => ({ ...rest, ...error }),
  )(line);
  return seen[0];
}

it('answers with Retry-After keep a line pending with growing pauses, and do not count as failures', async () => {
  const pause = async (postponements: number) => {
    const outcome = await outcomeOf(due({ postponements }), { retryAfterSeconds: 1 });
    expect(outcome).toMatchObject({ outcome: 'postponed', begun: false, failed: false });
    return (outcome as Postponed).dueAt.getTime();
  };
  expect([await pause(0), await pause(2), await pause(20)]).toEqual([1_000, 4_000, 60_000]);
});

it('an unconfirmed commit is looked for only when it can no longer happen', async () => {
  const outcome = await outcomeOf(due({}), { code: 'commit_unconfirmed', retryAfterSeconds: 5 });
  expect(outcome).toMatchObject({ outcome: 'postponed', begun: true, dueAt: new Date(35_000) });
});

it('an unexpected failure is tolerated five times, however often the line was postponed', async () => {
  const unexpected = { status: 500, code: 'internal_error' };
  expect(await outcomeOf(due({ postponements: 30, failures: 4 }), unexpected)).toMatchObject({
    outcome: 'postponed',
    begun: true,
    failed: true,
  });
  expect(await outcomeOf(due({ failures: 5 }), unexpected)).toMatchObject({ outcome: 'refused' });
});

it('an interrupted line shows the attempt that it made', async () => {
  const made = { outcome: 'submitted', emissionId: 7, attempt: 2 } as const;
  expect(await outcomeOf(due({ begun: true }), {}, made)).toEqual(made);
  expect(await outcomeOf(due({ begun: false }), {}, made)).toMatchObject({ outcome: 'refused' });
});

it('a line that made no attempt before its batch was cancelled is refused and not issued', async () => {
  const made = { outcome: 'submitted', emissionId: 7, attempt: 2 } as const;
  const interrupted = due({ begun: true, cancelled: true });
  expect(await outcomeOf(interrupted, {}, made)).toEqual(made);
  const { error } = (await outcomeOf(interrupted, { code: 'tried' })) as Extract<LineOutcome, { outcome: 'refused' }>;
  expect(error).toMatchObject({ status: 409, code: 'batch_cancelled' });
});

it('a line over the limit of its account waits until the account may issue again, however often it waited', async () => {
  const freeAt = new Date(900);
  const wait = { outcome: 'postponed', dueAt: freeAt, begun: false, failed: false, limited: true };
  expect(await outcomeOf(due({ postponements: 20 }), {}, null, freeAt)).toEqual(wait);
});

it('a document that is too costly to read is tried once more, and then refused', async () => {
  const costly = { status: 400, code: 'document_too_costly' };
  expect(await outcomeOf(due({ readings: 0 }), costly)).toMatchObject({
    outcome: 'postponed',
    begun: false,
    failed: false,
  });
  expect(await outcomeOf(due({ readings: 1 }), costly)).toMatchObject({ outcome: 'refused', error: costly });
});

it('a document whose reading ended its process twice is refused and not read again', async () => {
  const made = { outcome: 'submitted', emissionId: 7, attempt: 2 } as const;
  const tried = { status: 400, code: 'tried' };
  expect(await outcomeOf(due({ readings: 1 }), tried)).toMatchObject({ error: tried });
  expect(await outcomeOf(due({ readings: 2 }), tried)).toMatchObject({
    outcome: 'refused',
    error: { status: 400, code: 'document_too_costly' },
  });
  expect(await outcomeOf(due({ readings: 2, begun: true }), tried, made)).toEqual(made);
});
