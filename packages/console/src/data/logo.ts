import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, GatewayError, gateway, orNull } from './gateway.js';

const MOST_BYTES = 1024 * 1024;
const keyOf = (rnc: string) => ['logo', rnc];

/** The file of the logo on printed forms; null without one. */
export function useLogo(rnc: string) {
  return useQuery({
    queryKey: keyOf(rnc),
    queryFn: () =>
      orNull(bodyOf(gateway.GET('/account/taxpayers/{rnc}/logo', { params: { path: { rnc } }, parseAs: 'blob' }))),
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
  return useLogoAct(rnc, () => bodyOf(gateway.DELETE('/account/taxpayers/{rnc}/logo', { params: { path: { rnc } } })));
}

function useLogoAct<V, T>(rnc: string, mutationFn: (input: V) => Promise<T>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn, onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(rnc) }) });
}
