import { expect, it } from '@jest/globals';
import { createDeliveryBackground } from '../src/core/deliveries/delivery-background.js';
import { DeliveryLanes } from '../src/core/deliveries/delivery-lanes.js';
import { admittingHost, HostVisit, receivingHost } from '../src/core/deliveries/host-visit.js';

const NAME = 'TesteCF:131000001';
const OTHER = 'TesteCF:131000002';

const SIZES = { concurrency: 4, mostWaiting: 8, slowMs: 60_000, perReceiver: 8, perHost: 2 };

function lanes(places = 1) {
  let now = 0;
  const opened: number[] = [];
  const subject = new DeliveryLanes({
    places,
    failuresToOpen: 3,
    firstPauseMs: 2_000,
    longestPauseMs: 300_000,
    elapsed: () => now,
    onOpen: (_lane, pauseMs) => opened.push(pauseMs),
  });
  const send = (sign: 'alive' | 'failing' | 'unknown', pauseMs = 0) => {
    subject.begin(NAME);
    subject.end(NAME, sign, pauseMs);
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { subject, opened, send, pass };
}

it('a receiver that failed three times in a row is left alone, longer with each probe that fails, up to five minutes', () => {
  const { subject, opened, send, pass } = lanes();
  for (const _ of [1, 2]) send('failing');
  expect([subject.blocked(), opened]).toEqual([[], []]);
  send('failing');
  expect([subject.blocked(), subject.open(), opened]).toEqual([[NAME], [NAME], [2_000]]);
  pass(2_000);
  expect([subject.blocked(), subject.open()]).toEqual([[], []]);
  for (let probe = 0; probe < 9; probe += 1) {
    send('failing');
    pass(opened.at(-1) ?? 0);
  }
  expect(opened).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));
  send('alive');
  expect([subject.blocked(), subject.proven()]).toEqual([[], [NAME]]);
  send('failing');
  expect(subject.blocked()).toEqual([]);
});

it('one that asks for a pause gets it, within five minutes, and others go on', () => {
  const { subject, opened, send } = lanes();
  send('alive');
  send('failing', 10_000);
  send('failing', 86_400_000);
  expect([opened, subject.blocked(), subject.proven()]).toEqual([[10_000, 300_000], [NAME], []]);
  subject.begin(OTHER);
  expect(subject.blocked()).toEqual([NAME, OTHER]);
  subject.end(OTHER, 'alive');
  expect([subject.blocked(), subject.proven()]).toEqual([[NAME], [OTHER]]);
});

it('what says nothing about the receiver changes nothing', () => {
  const { subject, opened, send } = lanes();
  for (const _ of [1, 2, 3, 4]) send('unknown');
  expect([subject.blocked(), subject.proven(), opened]).toEqual([[], [], []]);
});

it('where several may be under way, one is until it answered; afterwards all places are filled, and a failure leaves one', () => {
  const { subject, send } = lanes(3);
  subject.begin(NAME);
  expect([subject.blocked(), subject.admits(NAME), subject.admits(OTHER)]).toEqual([[NAME], false, true]);
  subject.end(NAME, 'alive');
  subject.begin(NAME);
  expect([subject.blocked(), subject.roomy()]).toEqual([[], { [NAME]: 2 }]);
  subject.begin(NAME);
  subject.begin(NAME);
  expect([subject.blocked(), subject.roomy(), subject.admits(NAME)]).toEqual([[NAME], {}, false]);
  for (const _ of [1, 2, 3]) subject.end(NAME, 'alive');
  send('failing');
  expect([subject.roomy(), subject.admits(NAME)]).toEqual([{}, true]);
});

it('a door at somebody else’s host counts for those alone that receive where it was listed', () => {
  const [theirs, own] = ['https://provider.example/fe', 'https://buyer.example/fe'];
  const provider = { receptionUrl: theirs, authenticationUrl: theirs };
  expect([receivingHost(provider), admittingHost(provider)]).toEqual(Array(2).fill('https://provider.example'));
  const listed = admittingHost({ receptionUrl: own, authenticationUrl: theirs });
  expect(listed).toBe('https://provider.example for https://buyer.example');
  expect(admittingHost({ receptionUrl: own, authenticationUrl: null })).toBeNull();
});

it('an attempt takes places at all its hosts or at none, and each hears only of itself', () => {
  const { subject } = lanes();
  const [receives, admits] = ['https://receives.example', 'https://admits.example'];
  const first = new HostVisit(subject, 'TesteCF', '131000001', null);
  expect(first.enter([receives, admits])).toBeNull();
  const second = new HostVisit(subject, 'TesteCF', '131000001', null);
  expect(second.enter(['https://elsewhere.example', admits])).toBe(admits);
  second.leave();
  expect(subject.blocked()).toEqual([`TesteCF:${receives}`, `TesteCF:${admits}`]);
  // In another environment it may be another machine.
  expect(new HostVisit(subject, 'eCF', '131000001', null).enter([receives])).toBeNull();
  first.tell(receives, 'failing');
  first.tell(admits, 'alive');
  first.leave();
  expect(subject.proven()).toEqual([`TesteCF:${admits}`]);
});

it('a host is left alone where it fails for several, not for one, however often; who else receives there comes in between', () => {
  const { subject, opened, pass } = lanes(2);
  const host = 'https://provider.example';
  const name = `TesteCF:${host}` as const;
  const visit = (buyer: string, sign: 'alive' | 'failing') => {
    const one = new HostVisit(subject, 'TesteCF', buyer, null);
    expect(one.enter([host])).toBeNull();
    one.tell(host, sign);
    one.leave();
  };
  visit('good', 'alive');
  for (const _ of [1, 2, 3, 4, 5]) visit('bad', 'failing');
  visit('worse', 'failing');
  expect([opened, subject.admits(name)]).toEqual([[], true]);
  visit('worst', 'failing');
  expect([opened, subject.open()]).toEqual([[2_000], [name]]);
  pass(2_000);
  // Its probe by one who failed there before is a pause for all who did, however many were under way, and for nobody else.
  for (const buyer of ['bad', 'worse', 'worst', 'bad']) visit(buyer, 'failing');
  expect([opened, subject.admits(name)]).toEqual([[2_000, 4_000], true]);
  expect(subject.shutOut()).toEqual(['TesteCF:bad', 'TesteCF:worse', 'TesteCF:worst']);
  expect([subject.restMs(name, 'TesteCF:bad'), subject.restMs(name, 'TesteCF:good')]).toEqual([4_000, 0]);
  visit('fourth', 'failing');
  expect([opened, subject.admits(name)]).toEqual([[2_000, 4_000, 8_000], false]);
  pass(8_000);
  visit('good', 'alive');
  expect([subject.proven(), subject.roomy(), subject.shutOut()]).toEqual([[name], { [name]: 2 }, []]);
});

it('a host that is dead for all its buyers gets a single probe after each pause, which doubles up to five minutes', () => {
  const { subject, opened, pass } = lanes(4);
  const host = 'https://provider.example';
  const buyers = ['131000001', '131000002', '131000003', '131000004'];
  let attempts = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    for (const buyer of buyers) {
      if (!subject.admits(`TesteCF:${host}`) || subject.shutOut().includes(`TesteCF:${buyer}`)) continue;
      const visit = new HostVisit(subject, 'TesteCF', buyer, null);
      visit.enter([host]);
      visit.tell(host, 'failing');
      visit.leave();
      attempts += 1;
    }
    pass(60_000);
  }
  expect(opened.slice(0, 8)).toEqual([2, 4, 8, 16, 32, 64, 128, 256].map((seconds) => seconds * 1_000));
  expect([new Set(opened.slice(8)), attempts]).toEqual([new Set([300_000]), opened.length + 2]);
  expect(attempts).toBeLessThan(25);
});

it('the pause that one asks for at its first failure is over within a minute, so that the retry can be', () => {
  const { opened, send, pass } = lanes();
  send('failing', 300_000);
  pass(55_000);
  send('failing', 300_000);
  expect(opened).toEqual([55_000, 300_000]);
});

it('a pause is as long as it is where the clock is set back meanwhile, and so is the rest between two looks at deadlines', async () => {
  const [MINUTE, PAUSE] = [60_000, 50_000];
  const time = { wall: Date.parse('2026-06-23T12:00:00Z'), elapsed: 0 };
  const seen = { blocked: [] as readonly string[], givenUp: 0, looks: 0, opened: [] as string[] };
  const waiting = [{ key: { env: 'TesteCF' }, buyerRnc: NAME.slice('TesteCF:'.length), host: null, traceparent: null }];
  const background = createDeliveryBackground(
    {
      deliveries: {
        async claimDue({ blocked }: { blocked: readonly string[] }) {
          Object.assign(seen, { blocked, looks: seen.looks + 1 });
          return waiting.splice(0);
        },
        async giveUp() {
          seen.givenUp += 1;
          return [];
        },
      },
      deliveryObserver: { opened: (_: string, until: Date) => seen.opened.push(until.toISOString()) },
      deliverySettings: { leaseMs: 15_000 },
      clock: () => new Date(time.wall),
      elapsed: () => time.elapsed,
      checkpoint: () => undefined,
    } as never,
    { attempt: async (delivery) => ({ delivery, sign: 'failing', pauseMs: PAUSE }) },
    { ...SIZES, idleMs: 20, failuresToOpen: 3, firstPauseMs: 2_000, longestPauseMs: 300_000 },
  );
  const looked = async (more: number) => {
    const until = seen.looks + more;
    while (seen.looks < until) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  background.start();
  try {
    await looked(3);
    expect(seen).toMatchObject({ blocked: [NAME], givenUp: 1, opened: ['2026-06-23T12:00:50.000Z'] });
    time.wall -= 60 * MINUTE;
    time.elapsed += PAUSE - 1;
    await looked(2);
    expect(seen).toMatchObject({ blocked: [NAME], givenUp: 2 });
    time.elapsed += 1;
    await looked(2);
    expect(seen.blocked).toEqual([]);
  } finally {
    await background.stop();
  }
});
