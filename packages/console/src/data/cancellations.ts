import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, gateway, type Schemas } from './gateway.js';
import type { NumberRange } from './number-ranges.js';
import { usePlace } from './place.js';

export type Cancellation = Schemas['Cancellation'];

/** Cancellations of a page. */
export const PAGE = 20;

/** A page of the taxpayer's cancellations, newest first, after the first `offset` ones. */
export function useCancellations(offset: number) {
  const { env, rnc } = usePlace();
  return useQuery({
    queryKey: ['cancellations', env, rnc, offset],
    queryFn: () =>
      bodyOf(gateway.GET('/anecf', { params: { header: { env }, query: { issuer_rnc: rnc, limit: PAGE, offset } } })),
    placeholderData: keepPreviousData,
  });
}

const oneKey = (id: number) => ['cancellation', id];

/** One cancellation; loaded again until the authority has decided. */
export function useCancellation(submission_id: number) {
  return useQuery({
    queryKey: oneKey(submission_id),
    queryFn: () => bodyOf(gateway.GET('/anecf/{submission_id}', { params: { path: { submission_id } } })),
    refetchInterval: ({ state }) =>
      ['submitted', 'failed'].includes(state.data?.authority_status ?? '') ? 10_000 : false,
  });
}

/** The signed XML of a cancellation. */
export function cancellationXml(submission_id: number): Promise<Blob> {
  return bodyOf(gateway.GET('/anecf/{submission_id}/xml', { params: { path: { submission_id } }, parseAs: 'blob' }));
}

/**
 * Cancels ranges of the taxpayer's numbers. The gateway never sends a cancellation of the same numbers twice: a repeat fails with
 * `encf_in_use`.
 */
export function useCancel() {
  const { env, rnc } = usePlace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ ranges, reason }: { ranges: readonly NumberRange[]; reason: string }) => {
      const types = [...new Set(ranges.map(({ type }) => type))];
      return bodyOf(
        gateway.POST('/anecf', {
          body: {
            issuer_rnc: rnc,
            authority_environment: env,
            cancellation_reason: reason === '' ? null : reason,
            detail_lines: types.map((type) => ({
              ecf_type: type,
              sequence_ranges: ranges
                .filter((range) => range.type === type)
                .map(({ from, to }) => ({ encf_desde: from, encf_hasta: to })),
            })),
          },
        }),
      );
    },
    // Also after a failure: the cancellation may have been stored.
    onSettled: () => {
      for (const name of ['cancellations', 'account']) queries.invalidateQueries({ queryKey: [name] });
    },
    onSuccess: (made) => queries.setQueryData(oneKey(made.id), made),
  });
}
