import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas } from './gateway.js';
import { useSettingsOwner } from './settings-owner.js';

export type ApiKey = Schemas['ApiKey'];

const KEYS = ['api-keys'];

/** The API keys that the key of the session sees, the ended ones too. */
export function useApiKeys() {
  const { id, gateway } = useSettingsOwner();
  return useQuery({ queryKey: [...KEYS, id], queryFn: () => bodyOf(gateway.GET('/account/api-keys', {})) });
}

/** Whether a key may still be used. */
export function isUsable({ revoked_at, expires_at }: ApiKey): boolean {
  return revoked_at === null && (expires_at === null || new Date(expires_at).getTime() > Date.now());
}

/** Its result has the key. It is forgotten as soon as the component that shows it is gone. */
export function useCreateApiKey() {
  const { gateway } = useSettingsOwner();
  return useKeyAct((body: Schemas['NewApiKey']) => bodyOf(gateway.POST('/account/api-keys', { body })));
}

/** Its result has the new key. The replaced one works for some hours more. */
export function useRotateApiKey(keyId: string) {
  const { gateway } = useSettingsOwner();
  return useKeyAct((overlap_hours: number) =>
    bodyOf(gateway.POST('/account/api-keys/{keyId}/rotate', { params: { path: { keyId } }, body: { overlap_hours } })),
  );
}

export function useRevokeApiKey(keyId: string) {
  const { gateway } = useSettingsOwner();
  return useKeyAct(() => bodyOf(gateway.DELETE('/account/api-keys/{keyId}', { params: { path: { keyId } } })));
}

export function useRefuseWarnings(keyId: string) {
  const { gateway } = useSettingsOwner();
  return useKeyAct((refuse_warnings: boolean) =>
    bodyOf(gateway.PATCH('/account/api-keys/{keyId}', { params: { path: { keyId } }, body: { refuse_warnings } })),
  );
}

function useKeyAct<V, T>(mutationFn: (input: V) => Promise<T>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn, gcTime: 0, onSuccess: () => queries.invalidateQueries({ queryKey: KEYS }) });
}
