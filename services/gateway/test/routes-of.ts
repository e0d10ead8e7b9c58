interface Layer {
  route?: { path: string | string[]; methods: Record<string, boolean> };
  handle: { stack?: Layer[] };
}

/** `METHOD /path` of every route that a router does not answer with 405. */
export function routesOf(router: unknown, prefix = ''): string[] {
  return ((router as { stack: Layer[] }).stack ?? []).flatMap(({ route, handle }) => {
    if (route === undefined) return handle.stack === undefined ? [] : routesOf(handle, prefix);
    const methods = Object.keys(route.methods).filter(
      (name) => !['_all', 'options'].includes(name) && route.methods[name],
    );
    return [route.path]
      .flat()
      .flatMap((path) =>
        methods.map((method) => `${method.toUpperCase()} ${prefix}${path.replaceAll(/:(\w+)/g, '{$1}')}`),
      );
  });
}

/** `METHOD /path` of operations, sorted. */
export const named = (operations: readonly { method: string; path: string }[]) =>
  operations.map(({ method, path }) => `${method} ${path}`).sort();
