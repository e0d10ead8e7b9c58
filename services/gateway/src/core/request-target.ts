const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/i;

/**
 * Path and query of a request's target. Proxies write the whole address, which a server has to accept; whose host it names
 * decides nothing here. Source: RFC 9112 section 3.2.2.
 */
export function pathAndQuery(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(SCHEME_AND_HOST, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}
