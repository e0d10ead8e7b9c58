import type { NumberRange } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../src/attempt/attempt.js';
import { beginAttempt } from '../src/attempt/transitions.js';
import type { Cancellation } from '../src/cancellation/cancellation.js';
import { createSendCancellation } from '../src/cancellation/send-cancellation.js';
import { createWaits } from '../src/issue/await-verdict.js';
import { createIssue, type IssuePorts, type Signed, type Submission } from '../src/issue/issue.js';
import { createIssueJson } from '../src/issue/issue-json.js';
import { createSubmitJson } from '../src/issue/submit-json.js';
import { drawNumber, NumberLost } from '../src/numbers/automatic-number.js';
import type { Draw } from '../src/numbers/ports.js';
import { at, fresh, sending } from './support/attempts.js';
import { example } from './support/documents.js';

const { now, random } = at(0);
const GIVEN_UP = { code: 'overloaded', message: expect.stringContaining('Repeat it unchanged after Retry-After') };
const LEFT = { code: 'bad_request', message: expect.stringContaining('closed the connection') };

const left = () => {
  const caller = new AbortController();
  caller.abort();
  return caller.signal;
};

describe('a document whose number other requests take each time', () => {
  function contested() {
    const counts = { lookUps: 0, commits: 0 };
    const ports = {
      clock: () => now,
      recorder: { begin: () => sending() },
      checkpoint: () => undefined,
      inOrder: (_: string, work: () => Promise<unknown>) => work(),
      emissions: {
        findNumber: async () => {
          counts.lookUps += 1;
          return { attempt: null, cancelledBy: null };
        },
        nextId: async () => 1,
        begin: async () => {
          counts.commits += 1;
          return false;
        },
      },
    } as unknown as IssuePorts;
    const submission = {
      document: {
        key: { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000001' },
        type: '31',
        tree: {},
        summary: fresh().facts.summary,
      },
      ranges: [],
      drawn: null,
      idempotencyKey: null,
      dryRun: false,
    } as unknown as Submission;
    const sign = async () => ({ fresh: fresh(), files: [], sealedCertificate: null }) as unknown as Signed;
    const issue = createIssue(ports);
    return { counts, issue: (signal?: AbortSignal) => issue({ ...submission, signal }, sign) };
  }

  it('is given up after ten rounds, with 503 and the advice to repeat it', async () => {
    const { counts, issue } = contested();
    await expect(issue()).rejects.toMatchObject(GIVEN_UP);
    expect(counts).toEqual({ lookUps: 10, commits: 10 });
  });

  it('is not begun for a caller that left while it waited for its turn', async () => {
    const { counts, issue } = contested();
    await expect(issue(left())).rejects.toMatchObject(LEFT);
    expect(counts).toEqual({ lookUps: 0, commits: 0 });
  });
});

describe('a document without a number', () => {
  const SCOPE = { accountId: 'account-1', env: 'TesteCF', idempotencyKey: 'key' } as const;
  const DOCUMENT = { issuerRnc: '199999991', ecfType: '31', contentHash: 'hash' } as const;
  const RANGES: NumberRange[] = [
    { env: 'TesteCF', ecf_type: '31', from: 'E310000000001', to: 'E310000000099', expires: '2099-12-31' },
  ];
  const drawing = (outcome: Draw) => {
    const counts = { draws: 0, returned: 0 };
    const numbers = {
      submitted: async () => null,
      draw: async () => {
        counts.draws += 1;
        return outcome;
      },
      giveBack: async () => {
        counts.returned += 1;
      },
    };
    return { counts, numbers: numbers as never, sleep: async () => undefined };
  };

  it('does not wait without end for another call with its key', async () => {
    const { counts, numbers, sleep } = drawing({ outcome: 'busy' });
    await expect(drawNumber(numbers, sleep, SCOPE, DOCUMENT, RANGES)).rejects.toMatchObject(GIVEN_UP);
    expect(counts.draws).toBe(400);
  });

  it('draws no number for a caller that left', async () => {
    const { counts, numbers, sleep } = drawing({ outcome: 'busy' });
    await expect(drawNumber(numbers, sleep, SCOPE, DOCUMENT, RANGES, left())).rejects.toMatchObject(LEFT);
    expect(counts.draws).toBe(0);
  });

  it('is given up after ten numbers that went to other documents, and returns each', async () => {
    const { counts, numbers, sleep } = drawing({ outcome: 'drawn', encf: 'E310000000001', run: 1 });
    const document = example('ecf-31', 1, ({ Encabezado: { IdDoc } }) => {
      IdDoc.FechaVencimientoSecuencia = '31-12-2099';
    });
    const summary = fresh().facts.summary;
    const key = { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000001' };
    const invoice = { key, type: '31', summary, tree: document, route: 'ecf', contentHash: 'hash', warnings: [] };
    const issueJson = createIssueJson({
      readInvoice: async () => ({ isOpen: true, ownReference: null, invoice }) as never,
      taxpayers: { require: async () => ({ ranges: RANGES, rnc: '199999991' }) } as never,
      certificates: {} as never,
      signer: {
        certificateOf: () => ({ notBefore: at(-1).now, notAfter: at(1).now }),
        logIn: async () => ({}),
      } as never,
      known: { requireUnused: () => undefined },
      issue: () => Promise.reject(new NumberLost()),
      compare: {} as never,
      emissions: {} as never,
      numbers,
      lost: { alike: async () => [], refuseUnknown: async () => undefined } as never,
      observer: {} as never,
      clock: () => now,
      sleep,
      checkpoint: () => undefined,
    });
    const submission = { caller: { accountId: 'account-1' }, env: 'TesteCF', certificate: null, batchLine: null };
    const work = issueJson({ ...submission, dryRun: false, idempotencyKey: 'key' } as never);
    await expect(work).rejects.toMatchObject(GIVEN_UP);
    expect(counts).toEqual({ draws: 10, returned: 10 });
  });
});

/** The waits of a caller under a clock that only its sleeps move. */
function waits(parts: object, statusWaitMs = 60_000) {
  let waited = 0;
  const all = createWaits({
    clock: () => new Date(now.getTime() + waited),
    sleep: async (ms: number) => {
      waited += ms;
    },
    settings: { statusWaitMs, sendTimeoutMs: 60_000 },
    ...parts,
  } as never);
  return { ...all, waited: () => waited };
}

describe('a caller that waits for the verdict', () => {
  it('causes five queries of the authority in three seconds at most, the first after 220 ms', async () => {
    const asked: number[] = [];
    const queryResult = async () => {
      asked.push(waited());
      return { outcome: 'verdict', verdict: { status: 'EnProceso' } };
    };
    const { verdict, waited } = waits({ authority: { queryResult } }, 3_000);
    const attempt: Attempt = { ...sending(), state: 'processing', trackId: 'track-1', owner: null };
    expect(await verdict(attempt, { get: async () => 'token' } as never)).toBe(attempt);
    expect(asked).toEqual([220, 470, 970, 1_970, 2_970]);
  });
});

describe('a repeat', () => {
  it('of a document that is withdrawn at each try is given up after ten', async () => {
    let tries = 0;
    const attempt: Attempt = { ...sending(), state: 'withdrawn', owner: null };
    const submit = createSubmitJson(
      async () => {
        tries += 1;
        return { outcome: 'repeated', attempt, tokens: null, isBound: false, isStated: true };
      },
      waits({}),
      {} as never,
      { requireUnused: () => undefined },
      () => now,
    );
    await expect(submit({} as never)).rejects.toMatchObject(GIVEN_UP);
    expect(tries).toBe(10);
  });

  it('ends its wait for the verdict, and for the send of another request, when its caller leaves', async () => {
    const caller = new AbortController();
    const find = async () => {
      throw new Error('no reader waits for this query');
    };
    const leaving = waits({ sleep: async () => caller.abort(), emissions: { find } });
    const attempt = beginAttempt(fresh(), null, 1, at(0), { owner: 'other', leaseMs: 60_000, held: false });
    expect(await leaving.verdict(attempt, null, caller.signal)).toBe(attempt);
    expect(await leaving.send(attempt, caller.signal)).toBe(attempt);
  });

  it('waits no longer for an attempt that a wrong clock sent in the future', async () => {
    const sent = beginAttempt(fresh(), null, 1, at(3 * 3_600_000), { owner: 'other', leaseMs: 60_000, held: false });
    const { send, verdict, waited } = waits({ emissions: { find: async () => sent } }, 20_000);
    expect(await send(sent)).toBe(sent);
    expect(waited()).toBeLessThan(70_000);
    const before = waited();
    expect(await verdict(sent, null)).toBe(sent);
    expect(waited() - before).toBeLessThanOrEqual(20_000);
  });
});

describe('a cancellation whose outcome the database does not store', () => {
  it('is answered after ten tries, and recorded when the database is available again', async () => {
    let isAway = true;
    let tries = 0;
    const ports = {
      clock: () => now,
      random,
      firstRetryMs: 100,
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      tokens: { get: async () => ({ token: 't' }) },
      checkpoint: () => undefined,
      pending: new Set(),
      sending: new Set<number>(),
      authority: {
        submitCancellation: async () => ({
          outcome: 'unknown',
          cause: 'timeout',
          reachedAuthority: 'maybe',
          detail: 'x',
          raw: null,
        }),
      },
      observer: { sent: () => undefined, alarm: () => undefined, failed: () => undefined },
      cancellations: {
        find: async () => null,
        record: async (before: Cancellation) => {
          tries += 1;
          if (isAway) throw new Error('the database is unreachable');
          return before;
        },
      },
    } as unknown as Parameters<typeof createSendCancellation>[0];
    const send = createSendCancellation(ports);
    const cancellation = {
      id: 7,
      state: 'sending',
      lostSends: 0,
      failures: 0,
      createdAt: now,
      requestedAt: now,
      lines: [],
    };
    const answer = send(cancellation as unknown as Cancellation, {} as never, Buffer.from('<ANECF/>'));
    await expect(answer).rejects.toMatchObject({
      name: 'CommitUnconfirmed',
      publicMessage: expect.stringContaining('GET /anecf/7'),
    });
    expect(tries).toBeGreaterThanOrEqual(10);
    expect(ports.pending.size).toBe(1);
    expect([...ports.sending]).toEqual([7]);
    isAway = false;
    await Promise.all(ports.pending);
    expect([...ports.sending]).toEqual([]);
  });
});
