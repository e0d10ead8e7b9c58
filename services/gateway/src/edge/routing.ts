import type { HttpMethod } from '@ecf/contracts';
import { type Environment, publicAddress } from '@ecf/domain';

/** The properties of an operation that the table uses. `public` addresses match in any case and without accents. */
export interface Routable {
  readonly method: HttpMethod;
  readonly path: string;
  readonly access?: 'key' | 'public';
}

/** The target of a request. `path` is the owner's: without a slash at the end, a public address in its plain form. */
export type Routed<O> =
  | { kind: 'operation'; operation: O; path: string; prefix: Environment | null }
  | { kind: 'method_not_allowed'; allow: string[] }
  | { kind: 'none' };

type Methods<O> = Map<HttpMethod, O>;

interface Branch<O> {
  literal: Map<string, Branch<O>>;
  varying: Branch<O> | null;
  methods: Methods<O>;
}

/** Finds the operation of a request. Literal parts win over varying ones; slashes at the end do not count. */
export interface Router<O> {
  route(method: string, path: string): Routed<O>;
}

/** Builds the table from the operations of the interface. */
export function createRouter<O extends Routable>(operations: readonly O[]): Router<O> {
  const exact = new Map<string, Methods<O>>();
  const root = newBranch<O>();
  const open = new Map<string, Methods<O>>();
  for (const operation of operations) {
    if (operation.access === 'public') add(open, operation);
    else if (operation.path.includes('{')) branchOf(root, operation.path).methods.set(operation.method, operation);
    else {
      add(exact, operation);
      branchOf(root, operation.path).methods.set(operation.method, operation);
    }
  }

  function keyed(path: string): Methods<O> | undefined {
    return exact.get(path) ?? find(root, path.slice(1).split('/'), 0)?.methods;
  }

  return {
    route(method, rawPath) {
      const path = withoutSlashes(rawPath);
      const asKeyed = keyed(path);
      const direct = pick(asKeyed, method);
      if (direct !== undefined) return { kind: 'operation', operation: direct, path, prefix: null };
      const asPublic = publicAddress(path);
      const methods = asPublic === null ? undefined : open.get(asPublic.path);
      const operation = pick(methods, method);
      if (asPublic !== null && operation !== undefined) return { kind: 'operation', operation, ...asPublic };
      const allow = [...(asKeyed?.keys() ?? []), ...(methods?.keys() ?? [])];
      return allow.length > 0 ? { kind: 'method_not_allowed', allow } : { kind: 'none' };
    },
  };
}

function newBranch<O>(): Branch<O> {
  return { literal: new Map(), varying: null, methods: new Map() };
}

function add<O extends Routable>(table: Map<string, Methods<O>>, operation: O): void {
  const methods: Methods<O> = table.get(operation.path) ?? new Map();
  methods.set(operation.method, operation);
  table.set(operation.path, methods);
}

function branchOf<O>(root: Branch<O>, path: string): Branch<O> {
  let branch = root;
  for (const part of path.slice(1).split('/')) {
    if (part.startsWith('{')) {
      branch.varying ??= newBranch<O>();
      branch = branch.varying;
    } else {
      const next = branch.literal.get(part) ?? newBranch<O>();
      branch.literal.set(part, next);
      branch = next;
    }
  }
  return branch;
}

function find<O>(branch: Branch<O>, parts: readonly string[], at: number): Branch<O> | null {
  const part = parts[at];
  if (part === undefined) return branch.methods.size > 0 ? branch : null;
  const literal = branch.literal.get(part);
  const found = literal === undefined ? null : find(literal, parts, at + 1);
  if (found !== null || branch.varying === null || part === '') return found;
  return find(branch.varying, parts, at + 1);
}

function pick<O>(methods: Methods<O> | undefined, method: string): O | undefined {
  return methods?.get((method === 'HEAD' ? 'GET' : method) as HttpMethod);
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === 47) end -= 1;
  return end === path.length ? path : path.slice(0, end);
}
