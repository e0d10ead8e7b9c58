import { type components, GatewayError, type paths } from '@ecf/client';
import createClient from 'openapi-fetch';

export { GatewayError, unwrap as bodyOf } from '@ecf/client';

export type Schemas = components['schemas'];

/** Raised on the window after a call that had no answer, or that the gateway refused for lack of a session or a right. */
export const SESSION_IN_DOUBT = 'session-in-doubt';

/** Sends a request; a missing answer is an error of the client. */
export async function reach(request: Request): Promise<Response> {
  const doubt = () => request.url.endsWith('/console/session') || window.dispatchEvent(new Event(SESSION_IN_DOUBT));
  const response = await fetch(request).catch((cause: Error) => {
    if (request.signal.aborted) throw cause;
    doubt();
    throw new GatewayError({ status: 0, code: 'no_answer', message: cause.message, cause });
  });
  if (response.status === 401) doubt();
  return response;
}

/** The gateway that served this page. The session's cookie takes the place of a key. */
export const gateway = createClient<paths, 'application/json'>({ baseUrl: location.origin, fetch: reach });

/** What a call brought, or null if the gateway has no such object. */
export async function orNull<T>(body: Promise<T>): Promise<T | null> {
  try {
    return await body;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Whether the gateway could not be reached. */
export function isNoAnswer(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'no_answer';
}
