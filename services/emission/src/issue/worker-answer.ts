import { EmissionError } from '../errors.js';

/** The answer of a worker; an error loses its class between threads. */
export type WorkerAnswer<T> =
  | { readonly result: T }
  | { readonly refused: Pick<EmissionError, 'code' | 'message' | 'faults' | 'items'> };

/** In a worker: the result of the work, or its refusal. */
export async function answer<T>(work: () => T | Promise<T>): Promise<WorkerAnswer<T>> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof EmissionError)) throw error;
    const { code, message, faults, items } = error;
    return { refused: { code, message, faults, items } };
  }
}

/**
 * The result of an answer.
 *
 * @throws EmissionError
 */
export function resultOf<T>(answered: WorkerAnswer<T>): T {
  if ('result' in answered) return answered.result;
  const { code, message, faults, items } = answered.refused;
  throw new EmissionError(code, message, { ...(faults && { faults }), ...(items && { items }) });
}
