import type { Answer, DirectoryEntry, IssuedToken, RawAnswer, Seed, UnknownCause } from '@ecf/authority-client';
import type { CertificateUse } from '@ecf/taxpayer-replica';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { deliveryOf, type NewDeliveryParts } from '../src/buyers/delivery.js';
import type { Caller } from '../src/sending/endpoint-logins.js';
import { createEndpoints } from '../src/sending/endpoints.js';
import { nextLookUp, obeyedPause } from '../src/sending/retry-times.js';
import { certificate, issuedInvoice } from './support/world.js';

const RNC = '120000001';
const caller = callerOf('a', 'f');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const RAW = { status: 200 } as RawAnswer;
const SEED: Answer<Seed> = { outcome: 'verdict', verdict: { value: 's', date: 'd' } as Seed, raw: RAW };
const TOKEN: Answer<IssuedToken> = { outcome: 'verdict', verdict: { token: 't', lifetimeMs: HOUR }, raw: RAW };
const TAKEN: Answer<string> = { outcome: 'verdict', verdict: 'taken', raw: RAW };
const UNAUTHORIZED: Answer<never> = { outcome: 'unauthorized', raw: RAW };
const REFUSED: Answer<never> = { outcome: 'refused', code: 'login_refused', reason: 'not you', raw: RAW };

function unknown(cause: UnknownCause, status: number | null = null, retryAfterMs = 0): Answer<never> {
  const raw = status === null ? null : ({ status } as RawAnswer);
  return { outcome: 'unknown', cause, reachedAuthority: 'maybe', detail: cause, retryAfterMs, raw };
}

function callerOf(account: string, fingerprint: string): Caller {
  return { env: 'TesteCF', account, rnc: '131000001', certificate: { ...certificate, fingerprint } };
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** Receivers with a directory of the test, whose entries are cached for ten minutes. */
function directory({ logsIn = true } = {}) {
  const now = Date.parse('2026-06-23T12:00:00Z');
  const book = { now, elapsed: 1, queries: 0, entry: null as DirectoryEntry | null, gone: false };
  jest.spyOn(performance, 'now').mockImplementation(() => book.elapsed);
  /** The answers to a request for a seed and to a login. */
  const login = { seed: SEED, token: TOKEN, seeds: 0, logins: 0 };
  const uses: CertificateUse[] = [];
  const receivers = createEndpoints({
    authority: {
      findInDirectory: async () => {
        book.queries += 1;
        if (book.gone)
          return { outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe', detail: 'x', raw: null };
        return { outcome: 'verdict', verdict: book.entry, raw: {} } as Answer<DirectoryEntry | null>;
      },
    },
    recordUse: async (use) => void uses.push(use),
    logsIn,
    receivers: {
      async receiverSeed() {
        login.seeds += 1;
        return login.seed;
      },
      async receiverToken() {
        login.logins += 1;
        return login.token;
      },
    },
    tokens: { get: async () => ({ token: 't' }), invalidate: async () => undefined } as never,
    clock: () => new Date(book.now),
    entryLifeMs: 10 * MINUTE,
  });
  const pass = (ms: number) => {
    book.now += ms;
    book.elapsed += ms;
  };
  return { book, login, uses, pass, receivers };
}

function listed(addresses: Partial<DirectoryEntry>): DirectoryEntry {
  const none = { receptionUrl: null, approvalUrl: null, authenticationUrl: null };
  return { rnc: RNC, name: 'X', ...none, ...addresses } as DirectoryEntry;
}

it('a document for a buyer without receiver waits for the next look-up, which is soon', async () => {
  const { book, pass, receivers } = directory();
  const ports: NewDeliveryParts = {
    settings: { deliver45: false, deadlineMs: 72 * 60 * MINUTE },
    endpoints: receivers,
    clock: () => new Date(book.now),
    random: () => 0.5,
  };
  const invoice = issuedInvoice('E310000000001', { buyer_rnc: RNC });
  expect(deliveryOf(invoice, ports, null)).toMatchObject({ status: 'pending', dueAt: new Date(book.now) });
  await receivers.find(caller, RNC, 'receptionUrl');
  const end = book.now + 10_000;
  pass(9_000);
  const waiting = deliveryOf(invoice, ports, null);
  expect(waiting).toMatchObject({ status: 'no_receiver', dueAt: new Date(end + 2_500) });
  pass(1_000);
  expect(deliveryOf(invoice, ports, null)?.status).toBe('pending');
});

it('many documents that wait for the next look-up cause one query; a later document and a later try query again', async () => {
  const { book, pass, receivers } = directory();
  await receivers.find(caller, RNC, 'receptionUrl');
  const came = new Date(book.now + 1_000);
  pass(12_000);
  expect(await receivers.find(caller, RNC, 'receptionUrl', came)).toBeNull();
  pass(500);
  expect(await receivers.find(caller, RNC, 'receptionUrl', came)).toBeNull();
  expect(book.queries).toBe(2);
  book.entry = listed({ receptionUrl: 'https://buyer.example' });
  expect(await receivers.find(caller, RNC, 'receptionUrl', new Date(book.now))).toBe(book.entry);
  expect(await receivers.find(caller, RNC, 'receptionUrl')).toBe(book.entry);
  expect(book.queries).toBe(3);
});

it('an entry is cached while it has the wanted address, and is looked up again otherwise', async () => {
  const { book, receivers } = directory();
  const receptionUrl = 'https://issuer.example';
  book.entry = listed({ receptionUrl });
  for (const _ of [1, 2]) await receivers.find(caller, RNC, 'receptionUrl');
  expect(book.queries).toBe(1);
  book.entry = listed({ receptionUrl, approvalUrl: 'https://approvals.example' });
  expect((await receivers.find(caller, RNC, 'receptionUrl'))?.approvalUrl).toBeNull();
  expect((await receivers.find(caller, RNC, 'approvalUrl'))?.approvalUrl).toBe('https://approvals.example');
  expect(book.queries).toBe(2);
  await receivers.find(caller, RNC, 'approvalUrl');
  expect(book.queries).toBe(2);
});

it('an old entry is used while the directory does not answer, unless the wanted address is missing', async () => {
  const { book, pass, receivers } = directory();
  book.entry = listed({ receptionUrl: 'https://issuer.example' });
  await receivers.find(caller, RNC, 'receptionUrl');
  book.gone = true;
  pass(11 * MINUTE);
  expect(await receivers.find(caller, RNC, 'receptionUrl')).toBe(book.entry);
  await expect(receivers.find(caller, RNC, 'approvalUrl')).rejects.toThrow('the directory gave no answer');
});

it('a moved receiver is looked up immediately, however long its entry is cached, and the result is used next', async () => {
  const { book, receivers } = directory();
  book.entry = listed({ receptionUrl: 'https://old.example' });
  const called = (await receivers.find(caller, RNC, 'receptionUrl')) as DirectoryEntry;
  expect(await receivers.moved(caller, called, 'receptionUrl')).toBe(false);
  book.gone = true;
  await expect(receivers.moved(caller, called, 'receptionUrl')).rejects.toThrow('the directory gave no answer');
  book.gone = false;
  book.entry = listed({ receptionUrl: 'https://new.example' });
  expect(await receivers.moved(caller, called, 'receptionUrl')).toBe(true);
  expect(await receivers.find(caller, RNC, 'receptionUrl')).toBe(book.entry);
  expect(book.queries).toBe(4);
  book.entry = null;
  expect(await receivers.moved(caller, called, 'receptionUrl')).toBe(true);
});

it('no entry is cached for longer when the clock is set back', async () => {
  const { book, receivers } = directory();
  await receivers.find(caller, RNC, 'receptionUrl');
  book.now -= HOUR;
  book.elapsed += 9_000;
  expect(receivers.missedUntil('TesteCF', RNC)).toEqual(new Date(book.now + 1_000));
  book.elapsed += 1_000;
  expect(receivers.missedUntil('TesteCF', RNC)).toBeNull();
  book.entry = listed({ receptionUrl: 'https://buyer.example' });
  await receivers.find(caller, RNC, 'receptionUrl');
  book.now -= HOUR;
  book.elapsed += 10 * MINUTE;
  await receivers.find(caller, RNC, 'receptionUrl');
  expect(book.queries).toBe(3);
});

it('a missing receiver is looked up after pauses that double from an hour, and a last time at the deadline', () => {
  const began = new Date('2026-06-23T12:00:00Z');
  const deadline = new Date(began.getTime() + 72 * HOUR);
  const looks: number[] = [];
  for (let next: Date | null = began; next !== null; ) {
    looks.push((next.getTime() - began.getTime()) / HOUR);
    next = nextLookUp(looks.length, next, deadline, () => 0.5);
  }
  expect(looks).toEqual([0, 1, 3, 7, 15, 31, 63, 72]);
});

it('a requested pause is obeyed, the first within a minute and later ones up to the deadline', () => {
  const now = new Date('2026-06-23T12:00:00Z');
  const deadline = new Date(now.getTime() + HOUR);
  const kept = (askedMs: number, tries: number) => obeyedPause(askedMs, tries, now, deadline);
  expect([kept(10_000, 1), kept(5 * MINUTE, 1), kept(24 * HOUR, 1)]).toEqual([10_000, 55_000, 0]);
  expect([kept(5 * MINUTE, 2), kept(HOUR, 2), kept(HOUR + 1, 2)]).toEqual([5 * MINUTE, HOUR, 0]);
});

describe('logins at a receiver', () => {
  const entry = listed({ receptionUrl: 'https://buyer.example', authenticationUrl: 'https://login.example' });

  function sending(answers: () => Answer<string>) {
    const subject = directory();
    subject.book.entry = entry;
    const calls: (string | undefined)[] = [];
    const outcome = async (by = caller) => {
      const found = await subject.receivers.find(by, RNC, 'receptionUrl');
      if (found === null) throw new Error('it is listed');
      return subject.receivers
        .call(by, found, async (token) => {
          calls.push(token);
          return answers();
        })
        .then(
          (answer) => answer.outcome,
          (error) => [error.name, error.trouble, error.pauseMs],
        );
    };
    return { ...subject, calls, outcome };
  }
  const refused = (pauseMs: number) => ['EndpointLoginError', 'refused', pauseMs];

  it('concurrent deliveries share one login and its token', async () => {
    const { login, calls, outcome } = sending(() => TAKEN);
    expect(await Promise.all(Array.from({ length: 20 }, () => outcome()))).toEqual(Array(20).fill('verdict'));
    expect([login.seeds, login.logins, calls.length]).toEqual([1, 1, 20]);
    expect(await outcome(callerOf('b', 'f'))).toBe('verdict');
    expect(login.logins).toBe(2);
  });

  it('a login is recorded as a use of the certificate, with the host whose seed was signed', async () => {
    const { uses, outcome } = sending(() => TAKEN);
    await outcome();
    expect(uses).toMatchObject([{ account: 'a', rnc: '131000001', use: 'receiver_login', host: 'login.example' }]);
  });

  it('no login is made if logins are turned off, and a delivery to a receiver that demands a token fails', async () => {
    const { receivers, login, uses } = directory({ logsIn: false });
    const tokens: (string | undefined)[] = [];
    const send = (answer: Answer<string>) =>
      receivers.call(caller, entry, async (token) => {
        tokens.push(token);
        return answer;
      });
    expect((await send(TAKEN)).outcome).toBe('verdict');
    const words = 'the receiver demands a token, and RECEIVER_LOGINS=false turns logins at receivers off';
    for (const _ of [1, 2])
      await expect(send(UNAUTHORIZED)).rejects.toMatchObject({ name: 'EndpointLoginError', message: words });
    expect([tokens, login.seeds, login.logins, uses]).toEqual([[undefined, undefined], 0, 0, []]);
  });

  it('a refused login is not repeated for a while, for that issuer only, however many documents wait', async () => {
    const { book, login, pass, calls, outcome } = sending(() => TAKEN);
    login.token = REFUSED;
    expect(await outcome()).toEqual(refused(0));
    for (let document = 0; document < 1_000; document += 1) expect(await outcome()).toEqual(refused(10_000));
    expect([login.seeds, book.queries, calls]).toEqual([1, 1, []]);
    login.token = TOKEN;
    for (const other of [callerOf('b', 'f'), callerOf('a', 'g')]) expect(await outcome(other)).toBe('verdict');
    expect(await outcome()).toEqual(refused(10_000));
    pass(10_000);
    expect(await outcome()).toBe('verdict');
    expect([login.logins, book.queries]).toEqual([4, 1]);
  });

  it('a login obeys a requested pause, within a minute', async () => {
    const { login, pass, outcome } = sending(() => TAKEN);
    login.token = unknown('rate_limited', 429, 5 * MINUTE);
    expect(await outcome()).toEqual(refused(5 * MINUTE));
    pass(54_999);
    expect([await outcome(), login.logins]).toEqual([refused(1), 1]);
    pass(1);
    login.token = TOKEN;
    expect([await outcome(), login.logins]).toEqual(['verdict', 2]);
  });

  it('a login is not repeated for a while if the receiver refuses its own token, or requires one and offers no login', async () => {
    let answer: Answer<string> = UNAUTHORIZED;
    const { book, login, pass, calls, outcome } = sending(() => answer);
    expect(await outcome()).toBe('unauthorized');
    expect(await outcome()).toEqual(refused(10_000));
    pass(10_000);
    answer = TAKEN;
    expect([await outcome(), calls.length, login.logins]).toEqual(['verdict', 2, 2]);
    book.entry = listed({ receptionUrl: 'https://buyer.example' });
    pass(11 * MINUTE);
    answer = UNAUTHORIZED;
    expect(await outcome()).toBe('unauthorized');
    expect([await outcome(), calls.length]).toEqual([refused(10_000), 3]);
  });

  it('logins continue for the other buyers of a provider if one refuses the token', async () => {
    const { receivers } = directory();
    const answered = (rnc: string, answer: Answer<string>) =>
      receivers
        .call(caller, { ...entry, rnc }, async () => answer)
        .then(
          ({ outcome }) => outcome,
          ({ pauseMs }) => pauseMs,
        );
    expect(await answered('120000002', UNAUTHORIZED)).toBe('unauthorized');
    expect(await answered('120000002', TAKEN)).toBe(10_000);
    expect(await answered('120000003', TAKEN)).toBe('verdict');
  });

  it('a token that is refused later is renewed once', async () => {
    const answers = [TAKEN, UNAUTHORIZED, TAKEN];
    const { login, calls, outcome } = sending(() => answers.shift() ?? TAKEN);
    for (const _ of [1, 2, 3]) expect(await outcome()).toBe('verdict');
    expect([calls.length, login.logins]).toEqual([4, 2]);
  });

  it('a token that is refused to several simultaneous calls is renewed, and the new one is kept', async () => {
    let valid = 't';
    const { receivers, book, login } = directory();
    book.entry = entry;
    const send = () =>
      receivers.call(caller, entry, async (token) => {
        await new Promise((resolve) => setImmediate(resolve));
        return token === valid ? TAKEN : UNAUTHORIZED;
      });
    await send();
    valid = 'u';
    login.token = { outcome: 'verdict', verdict: { token: 'u', lifetimeMs: HOUR }, raw: RAW };
    const first = send();
    const late = receivers.call(caller, entry, async (token) => {
      if (token !== 't') return TAKEN;
      await first;
      return UNAUTHORIZED;
    });
    expect([(await first).outcome, (await late).outcome, login.logins]).toEqual(['verdict', 'verdict', 2]);
    expect([(await send()).outcome, login.logins]).toEqual(['verdict', 2]);
  });

  it('a stranger that lists another receiver’s login address stops none of its logins', async () => {
    const { receivers, login } = directory();
    const stranger = listed({ ...entry, receptionUrl: 'https://stranger.example' });
    const outcome = async (at: DirectoryEntry) =>
      (await receivers.call(caller, at, async () => (at === stranger ? UNAUTHORIZED : TAKEN))).outcome;
    expect(await outcome(entry)).toBe('verdict');
    expect(await outcome(stranger)).toBe('unauthorized');
    await expect(outcome(stranger)).rejects.toMatchObject({ pauseMs: 10_000 });
    expect([await outcome(entry), login.logins]).toEqual(['verdict', 2]);
  });

  it('a token is sent to the hosts of the directory entry that it was issued for, and to no other', async () => {
    const { receivers, login } = directory();
    const carried: Record<string, (string | undefined)[]> = {};
    const send = (at: DirectoryEntry, address: 'receptionUrl' | 'approvalUrl' = 'receptionUrl') =>
      receivers.call(caller, at, async (token) => {
        carried[String(at[address])] = [...(carried[String(at[address])] ?? []), token];
        return TAKEN;
      });
    const issues = (token: string) => {
      login.token = { outcome: 'verdict', verdict: { token, lifetimeMs: HOUR }, raw: RAW };
    };
    const both = listed({ ...entry, approvalUrl: 'https://approvals.example' });
    issues('of both');
    await send(both);
    await send(both, 'approvalUrl');
    // Another buyer with the same login address, and a buyer that moved: each gets its own token.
    issues('of another');
    await send(listed({ ...both, rnc: '120000002', receptionUrl: 'https://stranger.example' }));
    issues('of the moved one');
    await send(listed({ ...both, receptionUrl: 'https://moved.example' }));
    issues('of plain http');
    await send(listed({ ...both, receptionUrl: 'http://buyer.example' }));
    issues('of another port');
    await send(listed({ ...both, receptionUrl: 'https://buyer.example:8443' }));
    await send(both);
    // It offers no login, so no token is sent.
    await send(listed({ ...both, receptionUrl: 'https://open.example', authenticationUrl: null }));
    expect(carried).toEqual({
      'https://buyer.example': ['of both', 'of both'],
      'https://approvals.example': ['of both'],
      'https://stranger.example': ['of another'],
      'https://moved.example': ['of the moved one'],
      'http://buyer.example': ['of plain http'],
      'https://buyer.example:8443': ['of another port'],
      'https://open.example': [undefined],
    });
  });

  it('a receiver that cannot be reached is looked up again; a fault or an open circuit breaker is not a refusal', async () => {
    const { book, login, outcome } = sending(() => TAKEN);
    login.token = unknown('timeout');
    for (const _ of [1, 2, 3, 4]) expect(await outcome()).toEqual(['EndpointLoginError', 'unreached', 0]);
    expect(book.queries).toBe(4);
    login.token = unknown('server_error', 503, 5_000);
    for (const _ of [1, 2, 3, 4]) expect(await outcome()).toEqual(['EndpointLoginError', 'failing', 5_000]);
    login.token = unknown('circuit_open', null, 2_000);
    for (const _ of [1, 2]) expect(await outcome()).toEqual(['EndpointLoginError', 'circuit_open', 2_000]);
    expect(book.queries).toBe(5);
    // A status below 500 may concern this certificate alone.
    login.token = unknown('server_error', 400);
    expect(await outcome()).toEqual(refused(0));
  });
});
