import type { EventType, PublicEvent } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { ClaimRequest } from '@ecf/postgres/due-work';

/** Names a webhook of an account. */
export interface WebhookKey {
  readonly accountId: string;
  readonly id: string;
}

export interface NewWebhook extends WebhookKey {
  readonly url: string;
  /** Null = every type. */
  readonly types: readonly EventType[] | null;
  readonly environments: readonly Environment[];
  readonly secret: string;
}

export interface WebhookChange {
  readonly active?: boolean | undefined;
  readonly url?: string | undefined;
  readonly types?: readonly EventType[] | null | undefined;
}

export interface Webhook extends Omit<NewWebhook, 'secret'> {
  readonly active: boolean;
  readonly createdAt: Date;
  readonly lastSuccessAt: Date | null;
  readonly failingSince: Date | null;
  readonly pending: number;
  readonly dropped: number;
}

/** Where a webhook is called, and the secrets that sign the call. */
export interface Receiver {
  readonly url: string;
  readonly secrets: readonly string[];
}

/** The webhooks of accounts, with their secrets sealed. */
export interface WebhookStore {
  /** It gets the events from now on. False if the account has `most` webhooks. */
  create(webhook: NewWebhook, most: number, now: Date): Promise<boolean>;
  /** The webhooks that have no other environments than these. */
  list(
    accountId: string,
    page: { readonly limit: number; readonly offset: number; readonly environments: readonly Environment[] },
  ): Promise<Webhook[]>;
  find(key: WebhookKey): Promise<Webhook | null>;
  /** False if there is no such webhook. */
  change(key: WebhookKey, change: WebhookChange): Promise<boolean>;
  delete(key: WebhookKey): Promise<boolean>;
  /** The present secret signs too until `formerUntil`. */
  rotate(key: WebhookKey, secret: string, formerUntil: Date): Promise<boolean>;
  /** Its events after a place of the feed are delivered again. False if it is not active. */
  replay(key: WebhookKey, place: number, now: Date): Promise<boolean>;
  receiver(key: WebhookKey, now: Date): Promise<Receiver | null>;
}

/** An event that is due at a webhook. */
export interface WebhookDelivery extends Receiver {
  readonly webhookId: string;
  readonly eventId: number;
  /** Null if the feed does not keep it any more. */
  readonly event: (Omit<PublicEvent, 'time'> & { readonly time: Date }) | null;
  readonly tries: number;
  readonly giveUpAt: Date;
}

/** The events that wait for delivery. */
export interface WebhookDeliveries {
  /** Leases due events. */
  claimDue(request: ClaimRequest): Promise<readonly WebhookDelivery[]>;
  /** If the webhook had failed, its other events are due soon too. */
  delivered(delivery: WebhookDelivery, now: Date): Promise<void>;
  /** The event is due again at `dueAt`. The webhook is not called before `pausedUntil`, unless another call succeeds. */
  failed(delivery: WebhookDelivery, dueAt: Date, now: Date, pausedUntil: Date): Promise<void>;
  /** Gives up the events of the webhook whose time has ended, or that the feed no longer keeps. Resolves with their number. */
  giveUp(delivery: WebhookDelivery, now: Date): Promise<number>;
  deactivate(webhookId: string): Promise<void>;
  /** Events that wait, webhooks that fail while events wait for them, and seconds since the first of these failed. */
  waiting(now: Date): Promise<{ events: number; failing: number; failingSeconds: number }>;
}

export interface CallResult {
  /** HTTP status; null if the receiver gave no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Why there is no answer. */
  readonly error: string | null;
}

/** Calls receivers, signed as Standard Webhooks. */
export interface WebhookCalls {
  /** True if the text of the address does not forbid a call. */
  allows(url: string): boolean;
  call(receiver: Receiver, event: { readonly id: string }): Promise<CallResult>;
}

export type DeliveryOutcome = 'delivered' | 'failed' | 'given_up' | 'deactivated';
