import { errorCodeEntry, type WebhookBody, type WebhookOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError, InvalidRequest } from '@ecf/kit';
import { QueryError } from '../errors.js';
import type { ManageWebhooks } from './manage-webhooks.js';
import type { Webhook, WebhookCalls } from './ports.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The operations on webhooks for the gateway, over HTTP or in the same process. */
export function webhookOperations(manage: ManageWebhooks, calls: Pick<WebhookCalls, 'allows'>): WebhookOperations {
  function requireAllowed(url: string | undefined): void {
    if (url === undefined || calls.allows(url)) return;
    const msg =
      'The address is private or reserved, or has no TLS; name a public https address, or set ALLOW_PRIVATE_ADDRESSES in the query service.';
    throw new InvalidRequest([{ loc: ['body', 'url'], msg, type: 'address_refused' }]);
  }
  return {
    createWebhook: answering(async ({ webhook, ...name }) => {
      requireAllowed(webhook.url);
      const key = keyOf(name);
      return { id: key.id, ...webhook, active: true, secret: await manage.create(key, webhook) };
    }),
    listWebhooks: answering(async ({ account_id, ...page }) => ({
      webhooks: (await manage.list(account_id, page)).map(body),
    })),
    findWebhook: answering(async (name) => body(await manage.find(keyOf(name)))),
    changeWebhook: answering(async ({ change, ...name }) => {
      requireAllowed(change.url);
      return body(await manage.change(keyOf(name), change));
    }),
    deleteWebhook: answering(async (name) => {
      await manage.delete(keyOf(name));
      return {};
    }),
    rotateWebhook: answering(async (name) => ({ secret: await manage.rotate(keyOf(name)) })),
    replayWebhook: answering(async ({ after, ...name }) => {
      await manage.replay(keyOf(name), after);
      return {};
    }),
    testWebhook: answering(async (name) => {
      const { status, durationMs, error } = await manage.test(keyOf(name));
      return { status, duration_ms: durationMs, error };
    }),
  };
}

/** The ids of webhooks are UUIDs, so there is none with another id. */
function keyOf({ account_id, webhook_id }: { account_id: string; webhook_id: string }) {
  if (!UUID.test(webhook_id)) throw new QueryError('not_found', 'There is no such webhook in this account.');
  return { accountId: account_id, id: webhook_id };
}

function answering<Q, A>(operation: (question: Q) => Promise<A>): (question: Q) => Promise<A> {
  return async (question) => {
    try {
      return await operation(question);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      const { code, message } = error;
      if (code === 'unknown_event')
        throw new InvalidRequest([{ loc: ['body', 'after'], msg: message, type: code }], { code, cause: error });
      throw new ApiError(errorCodeEntry(code).status, code, message, { cause: error });
    }
  };
}

function body(webhook: Webhook): WebhookBody {
  const time = (date: Date | null) => (date === null ? null : toIsoDominican(date));
  const { id, url, types, environments, active, pending, dropped } = webhook;
  return {
    id,
    url,
    types: types === null ? null : [...types],
    environments: [...environments],
    active,
    created_at: toIsoDominican(webhook.createdAt),
    last_success_at: time(webhook.lastSuccessAt),
    failing_since: time(webhook.failingSince),
    pending,
    dropped,
  };
}
