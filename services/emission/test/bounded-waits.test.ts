import type { NumberRange } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../src/attempt/attempt.js';
import { beginAttempt } from '../src/attempt/transitions.js';
import type { Cancellation } from '../src/cancellation/cancellation.js';
import type { CancellationPorts } from '../src/cancellation/cancellation-ports.js';
import { createSendCancellation } from '../src/cancellation/send-cancellation.js';
import { answerDeadline, awaitSend, awaitVerdict } from '../src/issue/await-verdict.js';
import { type IssuePorts, issue, type Offer, type Prepared } from '../src/issue/issue.js';
import { createIssueOpen } from '../src/issue/issue-open.js';
import { createSubmitJson } from '../src/issue/submit-json.js';
import { drawNumber, NumberLost } from '../src/numbers/automatic-number.js';
import type { Draw } from '../src/ports.js';
import { at, fresh, sending } from './support/attempts.js';
import { example } from './support/documents.js';

const { now, random, settings } = at(0);
const GIVEN_UP = { code: 'overloaded', message: expect.stringContaining('Repeat it unchanged after Retry-After') };
const LEFT = { code: 'bad_request', message: expect.stringContaining('closed the connection') };

const left = () => {
  const caller = new AbortController();
  caller.abort();
  return caller.signal;
};

describe('a document whose number other requests take each time', () => {
  function contested() {
    const counts = { looks: 0, commits: 0 };
    const ports = {
      clock: () => now,
      random,
      settings,
      owner: 'me',
      checkpoint: () => undefined,
      inOrder: (_: string, work: () => Promise<unknown>) => work(),
      emissions: {
        look: async () => {
          counts.looks += 1;
          return { attempt: null, cancelledBy: null };
        },
        nextId: async () => 1,
        begin: async () => {
          counts.commits += 1;
          return false;
        },
      },
    } as unknown as IssuePorts;
    const offer = {
      document: {
        key: { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000001' },
        type: '31',
        tree: {},
        summary: fresh().facts.summary,
      },
      ranges: [],
      drawn: null,
      key: null,
      prepare: async () => ({ fresh: fresh(), files: [], sealedCertificate: null }) as unknown as Prepared,
    } as unknown as Offer<Prepared>;
    return { counts, ports, offer };
  }

  it('is given up after ten rounds, with 503 and the advice to repeat it', async () => {
    const { counts, ports, offer } = contested();
    await expect(issue(ports, offer, { dryRun: false })).rejects.toMatchObject(GIVEN_UP);
    expect(counts).toEqual({ looks: 10, commits: 10 });
  });

  it('is not begun for a caller that left while it waited for its turn', async () => {
    const { counts, ports, offer } = contested();
    await expect(issue(ports, offer, { dryRun: false, signal: left() })).rejects.toMatchObject(LEFT);
    expect(counts).toEqual({ looks: 0, commits: 0 });
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
    return { counts, ports: { numbers, sleep: async () => undefined } as never };
  };

  it('does not wait without end for another call with its key', async () => {
    const { counts, ports } = drawing({ outcome: 'busy' });
    await expect(drawNumber(ports, SCOPE, DOCUMENT, RANGES)).rejects.toMatchObject(GIVEN_UP);
    expect(counts.draws).toBe(400);
  });

  it('draws no number for a caller that left', async () => {
    const { counts, ports } = drawing({ outcome: 'busy' });
    await expect(drawNumber(ports, SCOPE, DOCUMENT, RANGES, left())).rejects.toMatchObject(LEFT);
    expect(counts.draws).toBe(0);
  });

  it('is given up after ten numbers that went to other documents, and returns each', async () => {
    const { counts, ports } = drawing({ outcome: 'drawn', encf: 'E310000000001', run: 1 });
    const document = example('ecf-31', 1, ({ Encabezado: { IdDoc } }) => {
      IdDoc.FechaVencimientoSecuencia = '31-12-2099';
    });
    const lost = { issue: () => Promise.reject(new NumberLost()), warningsOf: () => [] };
    const open = createIssueOpen(
      {
        ...(ports as object),
        clock: () => now,
        checkpoint: () => undefined,
        contingency: { isAway: async () => false },
        tokens: { get: async () => ({ token: 't', expiresAt: now }) },
        authority: { isAway: () => false, maintenanceUntil: () => null },
      } as never,
      { stored: () => ({}) } as never,
      lost as never,
    );
    const summary = fresh().facts.summary;
    const key = { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000001' };
    const invoice = { key, type: '31', summary, tree: document, route: 'ecf', contentHash: 'hash' };
    const parties = { caller: { accountId: 'account-1' }, taxpayer: { ranges: RANGES, rnc: '199999991' } };
    const work = open.issue(
      parties as never,
      { invoice, read: async () => ({ isOpen: true, invoice }) } as never,
      'key',
    );
    await expect(work).rejects.toMatchObject(GIVEN_UP);
    expect(counts).toEqual({ draws: 10, returned: 10 });
  });
});

describe('a caller that waits for the verdict', () => {
  it('queries the authority five times in three seconds at most, first after 220 ms', async () => {
    let waited = 0;
    const asked: number[] = [];
    const ports = {
      clock: () => new Date(now.getTime() + waited),
      sleep: async (ms: number) => {
        waited += ms;
      },
      authority: {
        queryResult: async () => {
          asked.push(waited);
          return { outcome: 'verdict', verdict: { status: 'EnProceso' } };
        },
      },
    } as never;
    const attempt: Attempt = { ...sending(), state: 'processing', trackId: 'track-1', owner: null };
    const tokens = { get: async () => 'token' } as never;
    expect(await awaitVerdict(ports, {} as never, attempt, tokens, now.getTime() + 3_000)).toBe(attempt);
    expect(asked).toEqual([220, 470, 970, 1_970, 2_970]);
  });
});

describe('a repeat', () => {
  const ports = { clock: () => now, random, settings, sleep: async () => undefined, emissions: {} } as never;

  it('of a document that is withdrawn at each try is given up after ten', async () => {
    let tries = 0;
    const attempt: Attempt = { ...sending(), state: 'withdrawn', owner: null };
    const submit = createSubmitJson(
      ports,
      async () => {
        tries += 1;
        return { outcome: 'repeated', attempt, tokens: null, isBound: false };
      },
      {} as never,
    );
    await expect(submit({} as never)).rejects.toMatchObject(GIVEN_UP);
    expect(tries).toBe(10);
  });

  it('ends its wait for the verdict, and for the send of another request, when its caller leaves', async () => {
    const caller = new AbortController();
    const leaving = {
      clock: () => now,
      settings: { ...settings, sendTimeoutMs: 60_000 },
      sleep: async () => caller.abort(),
      emissions: {
        find: async () => {
          throw new Error('no reader waits for this look');
        },
      },
    } as never;
    const attempt = beginAttempt(fresh(), null, 1, at(0), { owner: 'other', leaseMs: 60_000, held: false });
    const deadline = now.getTime() + 60_000;
    expect(await awaitVerdict(leaving, {} as never, attempt, null, deadline, caller.signal)).toBe(attempt);
    expect(await awaitSend(leaving, attempt, caller.signal)).toBe(attempt);
  });

  it('waits no longer for an attempt that a wrong clock sent in the future', async () => {
    const sent = beginAttempt(fresh(), null, 1, at(3 * 3_600_000), { owner: 'other', leaseMs: 60_000, held: false });
    let waited = 0;
    const waiting = {
      clock: () => new Date(now.getTime() + waited),
      settings: { ...settings, sendTimeoutMs: 60_000, statusWaitMs: 20_000 },
      sleep: async (ms: number) => {
        waited += ms;
      },
      emissions: { find: async () => sent },
    } as never;
    expect(await awaitSend(waiting, sent)).toBe(sent);
    expect(waited).toBeLessThan(70_000);
    waited = 0;
    expect(answerDeadline(waiting, sent)).toBe(now.getTime() + 20_000);
  });
});

describe('a cancellation whose outcome the database does not store', () => {
  it('is answered after ten tries, and recorded when the database is back', async () => {
    let isAway = true;
    let tries = 0;
    const ports = {
      clock: () => now,
      random,
      settings: { firstRetryMs: 100, sendTimeoutMs: 1_000 },
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      tokens: { get: async () => ({ token: 't' }) },
      checkpoint: () => undefined,
      pending: new Set(),
      cancellationAuthority: {
        submitCancellation: async () => ({
          outcome: 'unknown',
          cause: 'timeout',
          reachedAuthority: 'maybe',
          detail: 'x',
          raw: null,
        }),
      },
      cancellationObserver: { sent: () => undefined, alarm: () => undefined, failed: () => undefined },
      cancellations: {
        find: async () => null,
        record: async (before: Cancellation) => {
          tries += 1;
          if (isAway) throw new Error('the database is away');
          return before;
        },
      },
    } as unknown as CancellationPorts;
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
    expect(send.inFlight()).toEqual([7]);
    isAway = false;
    await Promise.all(ports.pending);
    await new Promise((resolve) => setImmediate(resolve));
    expect(send.inFlight()).toEqual([]);
  });
});
