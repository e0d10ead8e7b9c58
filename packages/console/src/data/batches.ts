import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { BatchFile } from './batch-file.js';
import { bodyOf, GatewayError, gateway, type Schemas } from './gateway.js';
import { type Place, usePlace } from './place.js';

export type Batch = Schemas['Batch'];
export type BatchResult = Schemas['BatchResult'];

/** A count of a batch, by which its results are filtered. */
export const COUNTS = ['pending', 'in_process', 'accepted', 'conditional', 'rejected', 'refused'] as const;
export type Count = (typeof COUNTS)[number];

const REFRESH_MS = 1_500;

/**
 * Whether the batch can still change: a cancelled one finishes the lines that have begun, and one whose lines are decided is done a
 * moment later.
 */
export const isOpen = ({ status, pending, in_process }: Batch) => status === 'processing' || pending + in_process > 0;

/** A page of batches, newest first. */
export function useBatches(after?: string) {
  const { env } = usePlace();
  const query = { limit: 50, ...(after && { after }) };
  return useQuery({
    queryKey: ['batches', env, query],
    queryFn: () => bodyOf(gateway.GET('/batches', { params: { header: { env }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.batches.some(isOpen) ? REFRESH_MS : false),
  });
}

/** A batch, read again until every line is decided. */
export function useBatch(batch_id: string) {
  const { env } = usePlace();
  return useQuery({
    queryKey: ['batch', env, batch_id],
    queryFn: () => bodyOf(gateway.GET('/batches/{batch_id}', { params: { header: { env }, path: { batch_id } } })),
    refetchInterval: ({ state }) => (state.data === undefined || isOpen(state.data) ? REFRESH_MS : false),
  });
}

/** A page of the results of a batch, in the order of its lines. */
export function useBatchResults(batch: Batch, only: Count | undefined, after: string | undefined) {
  const { env } = usePlace();
  return useQuery({
    // With the counts, so that each change of them reads the results again.
    queryKey: ['batch-results', env, batch, only, after],
    queryFn: () => resultsPage(env, batch.batch_id, 50, only, after),
    placeholderData: keepPreviousData,
  });
}

function resultsPage(env: Place['env'], batch_id: string, limit: number, only?: Count, after?: string) {
  const query = { limit, ...(only && { only }), ...(after && { after }) };
  return bodyOf(gateway.GET('/batches/{batch_id}/results', { params: { header: { env }, path: { batch_id }, query } }));
}

/** The refusal of a line as the error that the same document alone would bring. */
export const refusalOf = (error: NonNullable<BatchResult['error']>) => new GatewayError({ ...error, body: error });

/** All lines of a batch that were refused. */
export async function refusedResults(env: Place['env'], batch_id: string): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  let after: string | undefined;
  do {
    const page = await resultsPage(env, batch_id, 1_000, 'refused', after);
    results.push(...page.results);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return results;
}

/** The batch that was sent with the key of a file; null if there is none. */
export function useSentBatch({ key }: BatchFile) {
  const { env } = usePlace();
  return useQuery({ queryKey: ['sent-batch', env, key], queryFn: () => sentBatch(env, key) });
}

async function sentBatch(env: Place['env'], idempotency_key: string): Promise<Batch | null> {
  const params = { header: { env }, query: { idempotency_key } };
  return (await bodyOf(gateway.GET('/batches', { params }))).batches[0] ?? null;
}

interface Sending {
  file: BatchFile;
  /** True if the documents are only checked. */
  validate: boolean;
  /** True if they are signed also while the authority is unreachable. */
  contingency?: boolean;
}

/**
 * Sends a file as a batch, or only has it checked; returns the number of the batch. If the answer is lost, the batch is found by
 * its key. The same file under the same key is never submitted twice.
 */
export function useSendFile() {
  const { env } = usePlace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ file, validate, contingency = false }: Sending) => {
      const header = {
        env,
        ...(!validate && { 'idempotency-key': file.key }),
        ...(contingency && { 'x-contingency': 'true' as const }),
      };
      const sent = bodyOf(
        gateway.POST('/batches', {
          params: { header, query: validate ? { validate: 'true' } : {} },
          headers: { 'content-type': 'application/x-ndjson' },
          body: [],
          bodySerializer: () => new Blob([file.lines.join('\n')]),
        }),
      );
      return sent.catch(async (error: unknown) => {
        const batch = validate ? null : await sentBatch(env, file.key).catch(() => null);
        if (batch === null) throw error;
        return batch;
      });
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['batches'] }),
  });
}

/** Refuses the lines of a batch that have not begun. */
export function useCancelBatch(batch_id: string) {
  const { env } = usePlace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      bodyOf(gateway.POST('/batches/{batch_id}/cancel', { params: { header: { env }, path: { batch_id } } })),
    onSuccess: (batch) => queries.setQueryData(['batch', env, batch_id], batch),
  });
}
