/** Every address of the authority, and which service exists in which environment (contract section 1). */
import { ENVIRONMENTS, type Environment, environmentSegment, withoutTrailingSlashes } from '@ecf/domain';

export type Host = 'main' | 'consumer' | 'status';

interface ServiceRow {
  host: Host;
  environments: readonly Environment[];
}

const WITHOUT_CERTIFICATION: readonly Environment[] = ['TesteCF', 'eCF'];

/** The authority's services by the names they have in its paths. */
const SERVICES = {
  autenticacion: { host: 'main', environments: ENVIRONMENTS },
  recepcion: { host: 'main', environments: ENVIRONMENTS },
  recepcionfc: { host: 'consumer', environments: ENVIRONMENTS },
  consultaresultado: { host: 'main', environments: ENVIRONMENTS },
  consultaestado: { host: 'main', environments: WITHOUT_CERTIFICATION },
  consultatrackids: { host: 'main', environments: WITHOUT_CERTIFICATION },
  consultarfce: { host: 'consumer', environments: ENVIRONMENTS },
  aprobacioncomercial: { host: 'main', environments: ENVIRONMENTS },
  anulacionrangos: { host: 'main', environments: WITHOUT_CERTIFICATION },
  consultadirectorio: { host: 'main', environments: WITHOUT_CERTIFICATION },
  estatusservicios: { host: 'status', environments: ENVIRONMENTS },
} as const satisfies Record<string, ServiceRow>;

export type AuthorityService = keyof typeof SERVICES;
export const AUTHORITY_SERVICES = Object.keys(SERVICES) as AuthorityService[];

/** The host of a service. */
export function hostOf(service: AuthorityService): Host {
  return SERVICES[service].host;
}

/** False if every call is answered by `service_not_in_environment`. */
export function serviceExists(service: AuthorityService, env: Environment): boolean {
  return (SERVICES[service].environments as readonly Environment[]).includes(env);
}

const OFFICIAL_HOSTS: Record<Host, string> = {
  main: 'https://ecf.dgii.gov.do',
  consumer: 'https://fc.dgii.gov.do',
  status: 'https://statusecf.dgii.gov.do',
};

/** Numbers of the status service's parameter `ambiente`. */
export const STATUS_ENVIRONMENT_NUMBERS: Record<Environment, '1' | '2' | '3'> = {
  TesteCF: '1',
  eCF: '2',
  CerteCF: '3',
};

/** Base addresses of the three hosts, without trailing slash. */
export interface Endpoints {
  readonly hosts: Readonly<Record<Host, string>>;
}

export const OFFICIAL_ENDPOINTS: Endpoints = { hosts: OFFICIAL_HOSTS };

/**
 * The official hosts, or a simulator at `base` that plays all three under one address.
 * @throws TypeError when `base` is not an http(s) address.
 */
export function authorityEndpoints(base?: string | null): Endpoints {
  if (base === undefined || base === null || base === '') return OFFICIAL_ENDPOINTS;
  const url = new URL(base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`not an http address: ${url.protocol}`);
  const address = withoutTrailingSlashes(url.origin + url.pathname);
  return { hosts: { main: address, consumer: address, status: address } };
}

/**
 * Full address of `path` below a service. The status host has no environment segment.
 * @param path without leading slash, e.g. `api/consultas/estado`
 */
export function serviceAddress(
  endpoints: Endpoints,
  service: AuthorityService,
  env: Environment,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): URL {
  const { host } = SERVICES[service];
  const prefix = host === 'status' ? `api/${service}` : `${environmentSegment(env)}/${service}`;
  const url = new URL(`${endpoints.hosts[host]}/${prefix}/${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}
