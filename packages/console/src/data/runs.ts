import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf } from './gateway.js';
import { useSettingsOwner } from './settings-owner.js';

export const RUN_ENVIRONMENTS = ['TesteCF', 'CerteCF'] as const;

/** Begins a certification run of a taxpayer. */
export function useStartRun(rnc: string) {
  const { gateway } = useSettingsOwner();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { env: (typeof RUN_ENVIRONMENTS)[number]; reason: string }) =>
      bodyOf(gateway.POST('/account/taxpayers/{rnc}/runs', { params: { path: { rnc } }, body })),
    // Lists, sums and ranges are those of the new run.
    onSuccess: () => queries.invalidateQueries(),
  });
}
