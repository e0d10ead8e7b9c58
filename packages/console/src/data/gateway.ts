import type { components, paths } from '@ecf/client';
import createClient from 'openapi-fetch';

export type Schemas = components['schemas'];

/** The gateway that served this page. The session's cookie takes the place of a key. */
export const gateway = createClient<paths, 'application/json'>({ baseUrl: location.origin });

/** A response other than success, or no response (`status` 0). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    /** The gateway's code, for programs. */
    readonly code: string,
    /** The gateway's sentence. */
    message: string,
    /** Seconds after which the same request may succeed; null where a repeat does not help. */
    readonly retryAfter: number | null,
  ) {
    super(message);
  }
}

interface Call<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The body of a successful response; throws a `Problem` otherwise. */
export async function bodyOf<T>(call: Promise<Call<T>>): Promise<T> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    throw new Problem(0, 'unreachable', String(cause), 5);
  });
  if (response.ok) return data as T;
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: string;
    message?: string;
  };
  const retryAfter = response.headers.get('retry-after');
  throw new Problem(
    response.status,
    code ?? 'unreadable',
    message ?? response.statusText,
    retryAfter === null ? null : Number(retryAfter),
  );
}
