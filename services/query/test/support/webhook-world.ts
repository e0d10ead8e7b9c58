import { randomUUID } from 'node:crypto';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { ACCOUNT, invoice, invoiceEvent, OTHER_ACCOUNT, OTHER_ISSUER, taxpayer, taxpayerEvent } from './events.js';
import { type Receiver, startReceiver, WAKE_PATH } from './receiver.js';
import { startWorld, type World } from './world.js';

/**
 * The service with a receiver of webhooks, for all tests of a file. Each test begins at the present time, without webhooks and
 * calls, and with a receiver that answers 204.
 */
export function webhookWorld() {
  let started: { world: World; receiver: Receiver };
  const tests = {
    /** The service's time. */
    now: Date.now(),
    /** The number of the latest invoice. */
    sequence: 100,
    get world() {
      return started.world;
    },
    get receiver() {
      return started.receiver;
    },
    get webhooks() {
      return started.world.query.webhooks;
    },
  };
  beforeAll(async () => {
    const clock = () => new Date(tests.now);
    const world = await startWorld({ ALLOW_PRIVATE_ADDRESSES: 'true' }, { clock });
    started = { world, receiver: await startReceiver(() => tests.now) };
    await world.publish(taxpayerEvent(taxpayer({ rnc: OTHER_ISSUER, account_id: OTHER_ACCOUNT })));
  });
  afterAll(async () => {
    tests.receiver.stop();
    await tests.world.stop();
  });
  beforeEach(async () => {
    tests.now = Date.now();
    tests.receiver.calls = [];
    tests.receiver.answer = () => ({ status: 204 });
    await create(WAKE_PATH, { environments: ['CerteCF'] }, OTHER_ACCOUNT);
  });
  afterEach(async () => {
    tests.receiver.breakConnections();
    await tests.world.database.query('DELETE FROM webhook');
  });

  let wakes = 0;
  const name = (webhook_id: string, account_id = ACCOUNT) => ({ account_id, webhook_id });
  const find = (id: string) => tests.webhooks.findWebhook(name(id));
  /** Creates a webhook of all types and environments at a path of the receiver. */
  function create(path = '/', change: object = {}, account = ACCOUNT) {
    const url = `${tests.receiver.base}${path}`;
    const webhook = { url, types: null, environments: ['TesteCF', 'CerteCF', 'eCF'], ...change };
    return tests.webhooks.createWebhook({ ...name(randomUUID(), account), webhook: webhook as never });
  }
  /** The event of another invoice that was accepted. */
  const accepted = (change: Parameters<typeof invoice>[0] = {}) =>
    invoiceEvent(invoice({ sequence: ++tests.sequence, revision: 2, ...change }));
  return Object.assign(tests, {
    name,
    find,
    create,
    accepted,
    /** Lets that many milliseconds pass. An event of another account then makes the service look for due deliveries. */
    async pass(ms: number) {
      tests.now += ms;
      const other = { env: 'CerteCF', issuer_rnc: OTHER_ISSUER, account_id: OTHER_ACCOUNT } as const;
      await tests.world.publish(invoiceEvent(invoice({ ...other, sequence: ++wakes })));
    },
    callsOf: (path: string) => tests.receiver.calls.filter((call) => call.path === path),
    /** Waits until a delivery of the webhook has failed. */
    failing: (id: string) =>
      until(
        () => find(id),
        ({ failing_since }) => failing_since !== null,
      ),
    /** Waits until nothing waits for the webhook. */
    idle: (id: string) =>
      until(
        () => find(id),
        ({ pending }) => pending === 0,
      ),
  });
}
