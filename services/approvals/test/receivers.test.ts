import type { Answer, DirectoryEntry, IssuedToken, RawAnswer, Seed, UnknownCause } from '@ecf/authority-client';
import { describe, expect, it } from '@jest/globals';
import { type DeliveryOfPorts, deliveryOf } from '../src/core/deliveries/delivery.js';
import { keptPause, nextLookForReceiver } from '../src/core/receivers/receiver-pauses.js';
import { type Caller, createReceivers } from '../src/core/receivers/receivers.js';
import { issuedInvoice } from './support/world.js';

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
  return { env: 'TesteCF', account, certificate: { fingerprint, signSeed: async () => 'signed' } };
}

/** Receivers over a directory that a test writes, with entries believed for ten minutes. */
function directory() {
  const now = Date.parse('2026-06-23T12:00:00Z');
  const book = { now, elapsed: 0, asked: 0, entry: null as DirectoryEntry | null, gone: false };
  /** What receivers answer to a seed that is asked for, and to a login. */
  const door = { seed: SEED, login: TOKEN, seeds: 0, logins: 0 };
  const receivers = createReceivers({
    authority: {
      findInDirectory: async () => {
        book.asked += 1;
        if (book.gone)
          return { outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe', detail: 'x', raw: null };
        return { outcome: 'verdict', verdict: book.entry, raw: {} } as Answer<DirectoryEntry | null>;
      },
    },
    receivers: {
      async receiverSeed() {
        door.seeds += 1;
        return door.seed;
      },
      async receiverToken() {
        door.logins += 1;
        return door.login;
      },
    },
    tokens: { get: async () => ({ token: 't' }), invalidate: async () => undefined } as never,
    clock: () => new Date(book.now),
    elapsed: () => book.elapsed,
    entryLifeMs: 10 * MINUTE,
    leftAlone: { failuresToOpen: 3, firstPauseMs: 2_000, longestPauseMs: 5 * MINUTE },
  });
  const pass = (ms: number) => {
    book.now += ms;
    book.elapsed += ms;
  };
  return { book, door, pass, receivers };
}

function listed(addresses: Partial<DirectoryEntry>): DirectoryEntry {
  const none = { receptionUrl: null, approvalUrl: null, authenticationUrl: null };
  return { rnc: RNC, name: 'X', ...none, ...addresses } as DirectoryEntry;
}

it('a document for a buyer that was just looked up in vain waits for the next look-up, which is near', async () => {
  const { book, pass, receivers } = directory();
  const ports: DeliveryOfPorts = {
    deliverySettings: { deliver45: false, deadlineMs: 72 * 60 * MINUTE },
    receivers,
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

it('of a crowd that waits for the next look-up one asks; who came later, or asks again, is told the directory’s own word', async () => {
  const { book, pass, receivers } = directory();
  await receivers.find(caller, RNC, 'receptionUrl');
  const came = new Date(book.now + 1_000);
  pass(12_000);
  expect(await receivers.find(caller, RNC, 'receptionUrl', came)).toBeNull();
  pass(500);
  expect(await receivers.find(caller, RNC, 'receptionUrl', came)).toBeNull();
  expect(book.asked).toBe(2);
  book.entry = listed({ receptionUrl: 'https://buyer.example' });
  expect(await receivers.find(caller, RNC, 'receptionUrl', new Date(book.now))).toBe(book.entry);
  expect(await receivers.find(caller, RNC, 'receptionUrl')).toBe(book.entry);
  expect(book.asked).toBe(3);
});

it('an entry is believed while the address that is asked for is in it, and looked up afresh where it is not', async () => {
  const { book, receivers } = directory();
  const receptionUrl = 'https://issuer.example';
  book.entry = listed({ receptionUrl });
  for (const _ of [1, 2]) await receivers.find(caller, RNC, 'receptionUrl');
  expect(book.asked).toBe(1);
  book.entry = listed({ receptionUrl, approvalUrl: 'https://approvals.example' });
  expect((await receivers.find(caller, RNC, 'receptionUrl'))?.approvalUrl).toBeNull();
  expect((await receivers.find(caller, RNC, 'approvalUrl'))?.approvalUrl).toBe('https://approvals.example');
  expect(book.asked).toBe(2);
  await receivers.find(caller, RNC, 'approvalUrl');
  expect(book.asked).toBe(2);
});

it('a directory that does not answer: an old entry is used on where it has the address, and decides nothing where it has not', async () => {
  const { book, pass, receivers } = directory();
  book.entry = listed({ receptionUrl: 'https://issuer.example' });
  await receivers.find(caller, RNC, 'receptionUrl');
  book.gone = true;
  pass(11 * MINUTE);
  expect(await receivers.find(caller, RNC, 'receptionUrl')).toBe(book.entry);
  await expect(receivers.find(caller, RNC, 'approvalUrl')).rejects.toThrow('the directory gave no answer');
});

it('whether a receiver moved is asked at once, however long its entry is believed, and what is found is used next', async () => {
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
  expect(book.asked).toBe(4);
  book.entry = null;
  expect(await receivers.moved(caller, called, 'receptionUrl')).toBe(true);
});

it('a clock that is set back makes nothing believed for longer', async () => {
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
  expect(book.asked).toBe(3);
});

it('who has no receiver is looked up after hours that double, and a last time at the deadline', () => {
  const began = new Date('2026-06-23T12:00:00Z');
  const deadline = new Date(began.getTime() + 72 * HOUR);
  const looks: number[] = [];
  for (let next: Date | null = began; next !== null; ) {
    looks.push((next.getTime() - began.getTime()) / HOUR);
    next = nextLookForReceiver(looks.length, next, deadline, () => 0.5);
  }
  expect(looks).toEqual([0, 1, 3, 7, 15, 31, 63, 72]);
});

it('a pause that is asked for is kept: the first within a minute, later ones up to the deadline', () => {
  const now = new Date('2026-06-23T12:00:00Z');
  const deadline = new Date(now.getTime() + HOUR);
  const kept = (askedMs: number, tries: number) => keptPause(askedMs, tries, now, deadline);
  expect([kept(10_000, 1), kept(5 * MINUTE, 1), kept(24 * HOUR, 1)]).toEqual([10_000, 55_000, 0]);
  expect([kept(5 * MINUTE, 2), kept(HOUR, 2), kept(HOUR + 1, 2)]).toEqual([5 * MINUTE, HOUR, 0]);
});

describe('a receiver that refuses one issuer', () => {
  const entry = listed({ receptionUrl: 'https://buyer.example', authenticationUrl: 'https://door.example' });

  /** A thousand documents of an issuer, one after the other; the calls, and how they ended. */
  function sending(answers: () => Answer<string>) {
    const subject = directory();
    subject.book.entry = entry;
    const calls: (string | undefined)[] = [];
    const send = async (by = caller) => {
      const found = await subject.receivers.find(by, RNC, 'receptionUrl');
      if (found === null) throw new Error('it is listed');
      return subject.receivers.admitted(by, found, async (token) => {
        calls.push(token);
        return answers();
      });
    };
    const outcome = (by?: Caller) =>
      send(by).then(
        (answer) => answer.outcome,
        (error) => [error.name, error.trouble, error.pauseMs],
      );
    return { ...subject, calls, outcome };
  }

  it('is left alone by that one after three refusals, longer with each probe, and hears of the others', async () => {
    const { book, door, pass, calls, outcome } = sending(() => TAKEN);
    door.login = REFUSED;
    for (const _ of [1, 2, 3]) expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', 0]);
    for (let document = 0; document < 1_000; document += 1)
      expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', 2_000]);
    pass(2_000);
    // One probes, the others wait for what becomes of it.
    const crowd = await Promise.all(Array.from({ length: 20 }, () => outcome()));
    expect([crowd.filter(([, , pauseMs]) => pauseMs === 0).length, door.logins]).toEqual([1, 4]);
    expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', 4_000]);
    expect([door.seeds, book.asked, calls]).toEqual([4, 1, []]);
    door.login = TOKEN;
    for (const other of [callerOf('b', 'f'), callerOf('a', 'g')]) expect(await outcome(other)).toBe('verdict');
    expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', 4_000]);
    pass(4_000);
    expect(await Promise.all([outcome(), outcome()])).toContain('verdict');
    for (const _ of [1, 2, 3]) expect(await outcome()).toBe('verdict');
    expect([door.logins, book.asked]).toEqual([7, 1]);
  });

  it('with its token: the same, and the pause that it asks for at the login is kept', async () => {
    let answer: Answer<string> = UNAUTHORIZED;
    const { book, door, pass, calls, outcome } = sending(() => answer);
    for (const _ of [1, 2, 3]) expect(await outcome()).toBe('unauthorized');
    expect([calls.length, door.logins]).toEqual([3, 3]);
    expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', 2_000]);
    pass(2_000);
    door.login = unknown('rate_limited', 429, MINUTE);
    expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', MINUTE]);
    pass(MINUTE - 1);
    expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', 1]);
    pass(1);
    [door.login, answer] = [TOKEN, TAKEN];
    expect([await outcome(), book.asked]).toEqual(['verdict', 1]);
  });

  it('and asks for a long pause at once: it is asked again within a minute, and the pause is kept from then on', async () => {
    const { door, pass, outcome } = sending(() => TAKEN);
    door.login = unknown('rate_limited', 429, 5 * MINUTE);
    await outcome();
    pass(54_999);
    expect([await outcome(), door.logins]).toEqual([['ReceiverLoginError', 'refused', 1], 1]);
    pass(1);
    expect([await outcome(), door.logins]).toEqual([['ReceiverLoginError', 'refused', 5 * MINUTE], 2]);
    pass(MINUTE);
    expect([await outcome(), door.logins]).toEqual([['ReceiverLoginError', 'refused', 4 * MINUTE], 2]);
  });

  it('for one buyer of a provider alone: the others behind its door are served, until it refuses for several', async () => {
    const { receivers, pass } = directory();
    const answered = (rnc: string, answer: Answer<string>) =>
      receivers
        .admitted(caller, { ...entry, rnc }, async () => answer)
        .then(
          ({ outcome }) => outcome,
          ({ pauseMs }) => pauseMs,
        );
    for (const _ of [1, 2, 3]) expect(await answered('120000002', UNAUTHORIZED)).toBe('unauthorized');
    expect(await answered('120000002', TAKEN)).toBe(2_000);
    expect(await answered('120000003', UNAUTHORIZED)).toBe('unauthorized');
    expect(await answered('120000004', TAKEN)).toBe('verdict');
    for (const rnc of ['120000003', '120000005', '120000006'])
      expect(await answered(rnc, UNAUTHORIZED)).toBe('unauthorized');
    expect(await answered('120000004', TAKEN)).toBe(2_000);
    pass(2_000);
    // One probe by any of them is one by all of them, and by nobody else.
    expect(await answered('120000005', UNAUTHORIZED)).toBe('unauthorized');
    for (const rnc of ['120000003', '120000005', '120000006']) expect(await answered(rnc, TAKEN)).toBe(4_000);
    expect(await answered('120000004', TAKEN)).toBe('verdict');
    expect(await answered('120000003', TAKEN)).toBe('verdict');
  });

  it('a token that is refused later is renewed, once', async () => {
    const answers = [TAKEN, UNAUTHORIZED, TAKEN];
    const { door, calls, outcome } = sending(() => answers.shift() ?? TAKEN);
    for (const _ of [1, 2, 3]) expect(await outcome()).toBe('verdict');
    expect([calls.length, door.logins]).toEqual([4, 2]);
  });

  it('a token that is refused to several at once is renewed, and the new one stays', async () => {
    let valid = 't';
    const { receivers, book, door } = directory();
    book.entry = entry;
    const send = () =>
      receivers.admitted(caller, entry, async (token) => {
        await new Promise((resolve) => setImmediate(resolve));
        return token === valid ? TAKEN : UNAUTHORIZED;
      });
    await send();
    valid = 'u';
    door.login = { outcome: 'verdict', verdict: { token: 'u', lifetimeMs: HOUR }, raw: RAW };
    const first = send();
    const late = receivers.admitted(caller, entry, async (token) => {
      if (token !== 't') return TAKEN;
      await first;
      return UNAUTHORIZED;
    });
    expect([(await first).outcome, (await late).outcome, door.logins]).toEqual(['verdict', 'verdict', 2]);
    expect([(await send()).outcome, door.logins]).toEqual(['verdict', 2]);
  });

  it('and lists somebody else’s door as its own: who receives there is served all the same, with the token of before', async () => {
    const { receivers, door } = directory();
    const stranger = listed({ ...entry, receptionUrl: 'https://stranger.example' });
    const outcome = async (at: DirectoryEntry) =>
      (await receivers.admitted(caller, at, async () => (at === stranger ? UNAUTHORIZED : TAKEN))).outcome;
    expect(await outcome(entry)).toBe('verdict');
    for (const _ of [1, 2, 3]) expect(await outcome(stranger)).toBe('unauthorized');
    await expect(outcome(stranger)).rejects.toMatchObject({ pauseMs: 2_000 });
    expect([await outcome(entry), door.logins]).toEqual(['verdict', 4]);
  });

  it('and its door: a token goes to the hosts of the entry that it was asked for by, and to no other', async () => {
    const { receivers, door } = directory();
    const carried: Record<string, (string | undefined)[]> = {};
    const send = (at: DirectoryEntry, address: 'receptionUrl' | 'approvalUrl' = 'receptionUrl') =>
      receivers.admitted(caller, at, async (token) => {
        carried[String(at[address])] = [...(carried[String(at[address])] ?? []), token];
        return TAKEN;
      });
    const issues = (token: string) => {
      door.login = { outcome: 'verdict', verdict: { token, lifetimeMs: HOUR }, raw: RAW };
    };
    const both = listed({ ...entry, approvalUrl: 'https://approvals.example' });
    issues('of both');
    await send(both);
    await send(both, 'approvalUrl');
    // Somebody else behind the same door, and the same one after it moved: each asks for its own.
    issues('of another');
    await send(listed({ ...both, rnc: '120000002', receptionUrl: 'https://stranger.example' }));
    issues('of who moved');
    await send(listed({ ...both, receptionUrl: 'https://moved.example' }));
    issues('of plain http');
    await send(listed({ ...both, receptionUrl: 'http://buyer.example' }));
    issues('of another port');
    await send(listed({ ...both, receptionUrl: 'https://buyer.example:8443' }));
    await send(both);
    // Nobody logs in there, so nothing is carried.
    await send(listed({ ...both, receptionUrl: 'https://open.example', authenticationUrl: null }));
    expect(carried).toEqual({
      'https://buyer.example': ['of both', 'of both'],
      'https://approvals.example': ['of both'],
      'https://stranger.example': ['of another'],
      'https://moved.example': ['of who moved'],
      'http://buyer.example': ['of plain http'],
      'https://buyer.example:8443': ['of another port'],
      'https://open.example': [undefined],
    });
  });

  it('that needs no login and answers 401 all the same is left alone too', async () => {
    const { receivers } = directory();
    const plain = listed({ receptionUrl: 'https://buyer.example' });
    let calls = 0;
    const send = () =>
      receivers.admitted(caller, plain, async () => {
        calls += 1;
        return UNAUTHORIZED;
      });
    for (const _ of [1, 2, 3]) expect((await send()).outcome).toBe('unauthorized');
    await expect(send()).rejects.toMatchObject({ trouble: 'refused', pauseMs: 2_000 });
    expect(calls).toBe(3);
  });

  it('one that cannot be reached may have moved; in trouble of its own it has not, and is no refusal', async () => {
    const { book, door, outcome } = sending(() => TAKEN);
    door.login = unknown('timeout');
    for (const _ of [1, 2, 3, 4]) expect(await outcome()).toEqual(['ReceiverLoginError', 'unreached', 0]);
    expect(book.asked).toBe(4);
    door.login = unknown('server_error', 503, 5_000);
    for (const _ of [1, 2, 3, 4]) expect(await outcome()).toEqual(['ReceiverLoginError', 'failing', 5_000]);
    expect(book.asked).toBe(5);
    // Its words about a certificate are no trouble of its own.
    door.login = unknown('server_error', 400);
    expect(await outcome()).toEqual(['ReceiverLoginError', 'refused', 0]);
  });
});
