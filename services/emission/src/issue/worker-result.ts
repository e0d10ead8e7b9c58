import { EmissionError } from '../errors.js';

/** The result of a task in a worker thread, or its refusal; an error loses its class between threads. */
export type WorkerResult<T> =
  | { readonly result: T }
  | { readonly refused: Pick<EmissionError, 'code' | 'message' | 'faults' | 'items'> };

/** Runs a task in a worker thread. */
export async function workerResult<T>(work: () => T | Promise<T>): Promise<WorkerResult<T>> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof EmissionError)) throw error;
    const { code, message, faults, items } = error;
    return { refused: { code, message, faults, items } };
  }
}

/** The result of a task. Throws EmissionError if it was refused. */
export function resultOf<T>(outcome: WorkerResult<T>): T {
  if ('result' in outcome) return outcome.result;
  const { code, message, faults, items } = outcome.refused;
  throw new EmissionError(code, message, { ...(faults && { faults }), ...(items && { items }) });
}
