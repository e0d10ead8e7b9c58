/** The scopes of an API key. */
export const SCOPES = ['submit', 'read', 'receive', 'approve', 'cancel', 'manage'] as const;

export type Scope = (typeof SCOPES)[number];

/** The scopes of a key whose maker names none. */
export const DEFAULT_SCOPES = SCOPES.filter((scope) => scope !== 'manage');

/** The roles of administrators; each includes those before it. */
export const ROLES = ['viewer', 'operator', 'owner'] as const;

export type Role = (typeof ROLES)[number];

/** Whether a caller, whose key may be limited to some taxpayers, may act for an RNC of its account. */
export function mayActFor({ taxpayers }: { readonly taxpayers?: readonly string[] | undefined }, rnc: string): boolean {
  return taxpayers === undefined || taxpayers.includes(rnc);
}

/** Scopes of the operations that read what `submit`, `cancel` or `approve` made. */
export const READ_SUBMITTED = ['read', 'submit'] as const;
export const READ_CANCELLED = ['read', 'cancel'] as const;
export const READ_APPROVED = ['receive', 'approve'] as const;
