import type { Environment } from '@ecf/domain';
import { environmentOfSegment, serviceExists } from '../environments.js';
import type { Route } from './route.js';

export interface Match {
  readonly route: Route;
  readonly env: Environment;
}

/** Finds the route of a call, or the HTTP status that says there is none. */
export class Router {
  readonly #routes = new Map<string, Map<string, Route>>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const path = [route.service, route.path].filter(Boolean).join('/');
      const methods = this.#routes.get(path) ?? new Map<string, Route>();
      methods.set(route.method, route);
      this.#routes.set(path, methods);
    }
  }

  /** @param path percent-decoded, in lower case, with a slash at its beginning and none at its end */
  match(method: string, path: string): Match | 404 | 405 {
    const slash = path.indexOf('/', 1);
    const env = environmentOfSegment(path.slice(1, slash < 0 ? undefined : slash));
    const methods = this.#routes.get(env ? path.slice(slash + 1) : path.slice(1));
    const some = methods?.values().next().value;
    if (!methods || !some) return 404;
    if (env ? some.service === null || !serviceExists(some.service, env) : some.service !== null) return 404;
    const route = methods.get(method);
    return route ? { route, env: env ?? 'TesteCF' } : 405;
  }
}

/**
 * The path of a request target for matching; null when it is no path. Clients that join addresses carelessly write
 * doubled slashes, and the authority's servers let them.
 */
export function pathOf(target: string): string | null {
  try {
    const path = decodeURIComponent(target)
      .replace(/\/{2,}/g, '/')
      .toLowerCase();
    return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  } catch {
    return null;
  }
}
