import { createRootRoute, lazyRouteComponent, Outlet, useMatchRoute } from '@tanstack/react-router';
import { Shell } from './shell.js';

/** Below every page: the frame of the account, or none where the administration has its own. */
export const root = createRootRoute({ component: Frames });

function Frames() {
  return useMatchRoute()({ to: '/admin', fuzzy: true }) === false ? <Shell /> : <Outlet />;
}

/** A page that is loaded when it is needed. If its file is missing, the frame says so and keeps everything else as it is. */
export const page: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch((cause: Error) => {
        // With the browser's own message, the router would load the whole application anew without asking.
        throw new Error(`The page is missing: ${cause.message}`, { cause });
      }),
    name,
  );

/** The named parameters of the address, each a text; empty ones are absent. */
export function named<K extends string>(search: Record<string, unknown>, names: readonly K[]): { [N in K]?: string } {
  const given = names.filter((name) => search[name] !== undefined && search[name] !== '');
  return Object.fromEntries(given.map((name) => [name, String(search[name])])) as { [N in K]?: string };
}
