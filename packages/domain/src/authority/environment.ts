/** Environments of the authority, as the header `env` names them: sandbox, certification, production. */
export const ENVIRONMENTS = ['TesteCF', 'CerteCF', 'eCF'] as const;

export type Environment = (typeof ENVIRONMENTS)[number];

/** Whether the value is exactly one of the three environment words. */
export function isEnvironment(value: unknown): value is Environment {
  return (ENVIRONMENTS as readonly unknown[]).includes(value);
}

/**
 * The environment's segment in the authority's addresses: `testecf`, `certecf` or `ecf`.
 * Source: Descripción Técnica v1.6 p.6.
 */
export function environmentSegment(env: Environment): 'testecf' | 'certecf' | 'ecf' {
  return SEGMENTS[env];
}

/** The environment that a word names in any case, as other taxpayers write it; null if it names none. */
export function environmentNamed(word: string): Environment | null {
  const segment = word.trim().toLowerCase();
  return ENVIRONMENTS.find((env) => SEGMENTS[env] === segment) ?? null;
}

const SEGMENTS = { TesteCF: 'testecf', CerteCF: 'certecf', eCF: 'ecf' } as const;
