import querystring from 'node:querystring';
import { OPERATIONS } from '@ecf/contracts';
import { InvalidRequest } from '@ecf/kit';

/** By operation: the parameters of its query by their names in lower case. */
const KNOWN = new Map<string, ReadonlyMap<string, string>>(
  OPERATIONS.map(({ id, query }) => [id, new Map(Object.keys(query ?? {}).map((name) => [name.toLowerCase(), name]))]),
);

/**
 * The query of an operation with a key, its names in the spelling of the interface: `VALIDATE=true` becomes `validate=true`.
 * A name that the operation does not have is 422: otherwise a misspelt `validate` would submit the document.
 */
export function namedQuery(operation: string, query: string): string {
  const known = KNOWN.get(operation) ?? new Map<string, string>();
  const unknown: string[] = [];
  const parts = query.split('&').filter((part) => part !== '');
  const named = parts.map((part) => {
    const at = part.indexOf('=');
    const given = querystring.unescape((at < 0 ? part : part.slice(0, at)).replaceAll('+', ' '));
    const name = known.get(given.toLowerCase());
    if (name === undefined) unknown.push(given);
    return `${name}${at < 0 ? '' : part.slice(at)}`;
  });
  if (unknown.length > 0)
    throw new InvalidRequest([...new Set(unknown)].slice(0, 50).map((name) => fault(name, known)));
  return named.join('&');
}

function fault(name: string, known: ReadonlyMap<string, string>) {
  const names = [...known.values()].join(', ');
  const msg = known.size === 0 ? 'this address takes no query parameter' : `this address takes only ${names}`;
  return { loc: ['query', name.slice(0, 100)], msg, type: 'unknown' };
}
