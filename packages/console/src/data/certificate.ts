import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, orNull, type Schemas } from './gateway.js';
import { useRefreshOwner, useSettingsOwner } from './settings-owner.js';

export type Certificate = Schemas['CertificateFacts'];

/** The certificate that signs for a taxpayer; null without one. */
export function useCertificate(rnc: string) {
  const { id, gateway } = useSettingsOwner();
  return useQuery({
    queryKey: ['certificate', id, rnc],
    queryFn: () => orNull(bodyOf(gateway.GET('/account/taxpayers/{rnc}/certificate', { params: { path: { rnc } } }))),
  });
}

/** Stores the `certificate` and `password` of a form. The form is read when it is sent, so that no password stays in memory. */
export function usePutCertificate(rnc: string) {
  const { id, gateway } = useSettingsOwner();
  const refreshOwner = useRefreshOwner();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (form: HTMLFormElement) =>
      bodyOf(
        gateway.PUT('/account/taxpayers/{rnc}/certificate', {
          params: { path: { rnc } },
          body: { certificate: '', password: '' },
          bodySerializer: () => new FormData(form),
        }),
      ),
    onSuccess: async (certificate) => {
      queries.setQueryData(['certificate', id, rnc], certificate);
      await refreshOwner();
    },
  });
}
