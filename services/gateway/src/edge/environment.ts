import { ENVIRONMENTS, type Environment, environmentNamed, isEnvironment } from '@ecf/domain';
import { environmentNotServed } from '@ecf/http/identity';
import { ApiError, InvalidRequest } from '@ecf/kit';

/** The default environment of keyed calls. */
const KEYED_DEFAULT: Environment = 'TesteCF';

/** The environment of a keyed call: header `env`, else TesteCF. A header that names none of the three is 422. */
export function keyedEnvironment(header: string | undefined): { env: Environment; given: boolean } {
  if (header === undefined) return { env: KEYED_DEFAULT, given: false };
  if (isEnvironment(header)) return { env: header, given: true };
  throw new InvalidRequest([
    {
      loc: ['header', 'env'],
      msg: `The environment is one of ${ENVIRONMENTS.join(', ')}, written exactly so.`,
      type: 'enum',
    },
  ]);
}

/**
 * The environment of a public call: prefix of the path, else header `env` if it names one, in any case, else the
 * deployment's default. Other taxpayers' systems do not know this header, so no value of it refuses a document.
 */
export function publicEnvironment(
  prefix: Environment | null,
  header: string | undefined,
  fallback: Environment,
): Environment {
  return prefix ?? environmentNamed(header ?? '') ?? fallback;
}

/** 401 if the key was not issued for the environment. */
export function requireEnvironment(environments: readonly Environment[], env: Environment): void {
  if (environments.includes(env)) return;
  throw new ApiError(
    401,
    'environment_not_allowed',
    `This key was issued for ${environments.join(', ')}, not for ${env}; use a key of that environment or name the right one in the header env.`,
  );
}

/** 422 for production where the deployment does not serve it. */
export function requireServed(env: Environment, servesProduction: boolean): void {
  if (env === 'eCF' && !servesProduction) throw environmentNotServed(['header', 'env']);
}
