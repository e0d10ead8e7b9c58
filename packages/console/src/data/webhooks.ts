import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas } from './gateway.js';
import { useSettingsOwner } from './settings-owner.js';

const WEBHOOKS = ['webhooks'];

export type EventType = Schemas['Event']['type'];
export type Webhook = NonNullable<ReturnType<typeof useWebhooks>['data']>[number];

/** The webhooks of the account, with the state of each. */
export function useWebhooks() {
  const { id, gateway } = useSettingsOwner();
  return useQuery({
    queryKey: [...WEBHOOKS, id],
    queryFn: () => bodyOf(gateway.GET('/account/webhooks', {})),
    refetchInterval: 10_000,
  });
}

/** What is wanted of a new webhook; `types` null for every type. */
export interface NewWebhook {
  url: string;
  types: EventType[] | null;
  environments: Schemas['Environment'][];
}

/** Its result has the secret of the signatures. */
export function useCreateWebhook() {
  const { gateway } = useSettingsOwner();
  return useWebhookAct((body: NewWebhook) => bodyOf(gateway.POST('/account/webhooks', { body })));
}

export function useChangeWebhook(webhookId: string) {
  const { gateway } = useSettingsOwner();
  return useWebhookAct((body: { active?: boolean; url?: string; types?: EventType[] | null }) =>
    bodyOf(gateway.PATCH('/account/webhooks/{webhookId}', { params: { path: { webhookId } }, body })),
  );
}

export function useDeleteWebhook(webhookId: string) {
  const { gateway } = useSettingsOwner();
  return useWebhookAct(() =>
    bodyOf(gateway.DELETE('/account/webhooks/{webhookId}', { params: { path: { webhookId } } })),
  );
}

/** Its result has the new secret. For a day, calls are signed with the former one too. */
export function useRotateWebhook(webhookId: string) {
  const { gateway } = useSettingsOwner();
  return useWebhookAct(() =>
    bodyOf(gateway.POST('/account/webhooks/{webhookId}/rotate', { params: { path: { webhookId } } })),
  );
}

/** Delivers the events after the event with this id again. */
export function useReplayWebhook(webhookId: string) {
  const { gateway } = useSettingsOwner();
  return useWebhookAct((after: string) =>
    bodyOf(gateway.POST('/account/webhooks/{webhookId}/replay', { params: { path: { webhookId } }, body: { after } })),
  );
}

/** Calls the receiver once. */
export function useTestWebhook(webhookId: string) {
  const { gateway } = useSettingsOwner();
  return useWebhookAct(() =>
    bodyOf(gateway.POST('/account/webhooks/{webhookId}/test', { params: { path: { webhookId } } })),
  );
}

function useWebhookAct<V, T>(mutationFn: (input: V) => Promise<T>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn, gcTime: 0, onSuccess: () => queries.invalidateQueries({ queryKey: WEBHOOKS }) });
}
