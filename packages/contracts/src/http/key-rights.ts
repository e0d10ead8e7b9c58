/** The scopes of an API key. */
export const SCOPES = ['submit', 'read', 'receive', 'approve', 'cancel'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a caller, whose key may be limited to some taxpayers, may act for an RNC of its account. */
export function mayActFor({ taxpayers }: { readonly taxpayers?: readonly string[] | undefined }, rnc: string): boolean {
  return taxpayers === undefined || taxpayers.includes(rnc);
}
