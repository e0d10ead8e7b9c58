import { randomBytes, randomUUID } from 'node:crypto';
import { type EventType, WEBHOOK_OVERLAP_HOURS } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { toIsoDominican } from '@ecf/domain';
import { QueryError } from '../errors.js';
import type { placeInFeed } from '../feed/read-feed.js';
import type { Webhook, WebhookCalls, WebhookChange, WebhookKey, WebhookStore } from './ports.js';

const HOUR_MS = 3_600_000;
const SECRET_BYTES = 32;
/** Webhooks of an account: each event is sent to all of them, from the slots that all accounts have together. */
const MOST_WEBHOOKS = 100;

export interface ManageWebhooksPorts {
  readonly webhooks: WebhookStore;
  readonly calls: Pick<WebhookCalls, 'call'>;
  readonly placeOf: ReturnType<typeof placeInFeed>;
  /** New deliveries may be due. */
  readonly wake: () => void;
  readonly clock: () => Date;
}

export interface WantedWebhook {
  readonly url: string;
  readonly types: readonly EventType[] | null;
  readonly environments: readonly Environment[];
}

/** The administration of webhooks. Throws QueryError `not_found` where the account has no such webhook. */
export function createManageWebhooks({ webhooks, calls, placeOf, wake, clock }: ManageWebhooksPorts) {
  async function find(key: WebhookKey): Promise<Webhook> {
    const webhook = await webhooks.find(key);
    if (webhook === null) throw missing();
    return webhook;
  }

  return {
    list: webhooks.list,
    find,
    /** Answers the secret. */
    async create(key: WebhookKey, wanted: WantedWebhook): Promise<string> {
      const secret = makeSecret();
      if (await webhooks.create({ ...key, ...wanted, secret }, MOST_WEBHOOKS, clock())) return secret;
      const message = `The account has the maximum of ${MOST_WEBHOOKS} webhooks; change one of them, or delete one first.`;
      throw new QueryError('conflict', message);
    },
    async change(key: WebhookKey, change: WebhookChange): Promise<Webhook> {
      if (!(await webhooks.change(key, change))) throw missing();
      return find(key);
    },
    async delete(key: WebhookKey): Promise<void> {
      if (!(await webhooks.delete(key))) throw missing();
    },
    /** Answers the new secret. */
    async rotate(key: WebhookKey): Promise<string> {
      const secret = makeSecret();
      const formerUntil = new Date(clock().getTime() + WEBHOOK_OVERLAP_HOURS * HOUR_MS);
      if (!(await webhooks.rotate(key, secret, formerUntil))) throw missing();
      return secret;
    },
    /** Delivers the events after one that the feed keeps, again or for the first time. */
    async replay(key: WebhookKey, after: string): Promise<void> {
      await find(key);
      if (!(await webhooks.replay(key, await placeOf(after), clock())))
        throw new QueryError('conflict', 'The webhook is not active; activate it with PATCH, then repeat.');
      wake();
    },
    /** Calls the receiver once with an event of the type `webhook.test`, which is in no feed. */
    async test(key: WebhookKey) {
      const receiver = await webhooks.receiver(key, clock());
      if (receiver === null) throw missing();
      const time = toIsoDominican(clock());
      return calls.call(receiver, testEvent(time));
    },
  };
}
export type ManageWebhooks = ReturnType<typeof createManageWebhooks>;

function testEvent(time: string) {
  return { id: `test-${randomUUID()}`, type: 'webhook.test', time, env: null, subject: { encf: null }, data: {} };
}

function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

function missing(): QueryError {
  return new QueryError('not_found', 'There is no such webhook in this account.');
}
