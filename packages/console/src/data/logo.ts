import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, GatewayError, orNull } from './gateway.js';
import { type SettingsOwner, useSettingsOwner } from './settings-owner.js';

const MOST_BYTES = 1024 * 1024;
const keyOf = ({ id }: SettingsOwner, rnc: string) => ['logo', id, rnc];

/** The file of the logo on printed forms; null without one. */
export function useLogo(rnc: string) {
  const owner = useSettingsOwner();
  return useQuery({
    queryKey: keyOf(owner, rnc),
    queryFn: () =>
      orNull(
        bodyOf(owner.gateway.GET('/account/taxpayers/{rnc}/logo', { params: { path: { rnc } }, parseAs: 'blob' })),
      ),
  });
}

/** Why a file cannot be a logo, as far as its name and size show it; the gateway looks at its content. */
export function refusalOf(file: File): GatewayError | null {
  const refused = (type: string) =>
    new GatewayError({
      status: 422,
      code: 'validation_error',
      message: type,
      body: { items: [{ loc: ['body'], msg: type, type }] },
    });
  if (!['image/png', 'image/jpeg'].includes(file.type)) return refused('not_png_or_jpeg');
  return file.size > MOST_BYTES ? refused('too_large') : null;
}

export function usePutLogo(rnc: string) {
  const { gateway } = useSettingsOwner();
  return useLogoAct(rnc, (file: File) =>
    bodyOf(
      gateway.PUT('/account/taxpayers/{rnc}/logo', {
        params: { path: { rnc } },
        headers: { 'content-type': file.type },
        body: '',
        bodySerializer: () => file,
      }),
    ),
  );
}

export function useDeleteLogo(rnc: string) {
  const { gateway } = useSettingsOwner();
  return useLogoAct(rnc, () => bodyOf(gateway.DELETE('/account/taxpayers/{rnc}/logo', { params: { path: { rnc } } })));
}

function useLogoAct<V, T>(rnc: string, mutationFn: (input: V) => Promise<T>) {
  const owner = useSettingsOwner();
  const queries = useQueryClient();
  return useMutation({ mutationFn, onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(owner, rnc) }) });
}
