import type { Environment } from '@ecf/domain';
import type { Queries } from '@ecf/postgres';
import { LRUCache } from 'lru-cache';
import type { SignerFacts } from './signed-document.js';

/** A key that signed in the name of an RNC. */
export interface SignerUse {
  readonly env: Environment;
  /** The RNC in whose name it signed: the issuer of an e-CF, the buyer of an acknowledgement or approval. */
  readonly rnc: string;
  readonly signer: Pick<SignerFacts, 'keyFingerprint' | 'holderId' | 'trusted'>;
  /** When the document came. Only confirmed documents that came before count. */
  readonly at: Date;
}

/** SQL expressions of a {@link SignerUse}. */
export type SignerExpressions = Record<'env' | 'rnc' | 'key' | 'holder' | 'trusted' | 'at', string>;

/**
 * SQL that returns whether a signer is known. Certificates from trusted issuers name a holder that the issuer checked. Without
 * trusted issuers anybody can write any name, so only the key counts.
 */
export function isKnownSql({ env, rnc, key, holder, trusted, at }: SignerExpressions): string {
  return `EXISTS (SELECT 1 FROM known_signers k
                   WHERE k.env = ${env} AND k.rnc = ${rnc} AND k.first_used_at < ${at}
                     AND (k.key = ${key} OR (${trusted} AND k.trusted AND k.holder = ${holder})))`;
}

const KNOWN = {
  name: 'known_signers_look_up',
  text: `SELECT u.position::int
           FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::timestamptz[])
                WITH ORDINALITY AS u(env, rnc, key, holder, trusted, at, position)
          WHERE ${isKnownSql({ env: 'u.env', rnc: 'u.rnc', key: 'u.key', holder: 'u.holder', trusted: 'u.trusted', at: 'u.at' })}`,
};
const NOTE = {
  name: 'known_signers_note',
  text: `INSERT INTO known_signers AS k (env, rnc, key, holder, trusted, first_used_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (env, rnc, key) DO UPDATE
            SET holder = coalesce(excluded.holder, k.holder), trusted = k.trusted OR excluded.trusted,
                first_used_at = least(k.first_used_at, excluded.first_used_at)
          WHERE (k.trusted, k.first_used_at) IS DISTINCT FROM
                (k.trusted OR excluded.trusted, least(k.first_used_at, excluded.first_used_at))`,
};

const NOTED = {
  name: 'known_signers_noted',
  text: `SELECT 1 FROM known_signers
          WHERE env = $1 AND rnc = $2 AND key = $3 AND (trusted OR NOT $4::boolean) AND first_used_at <= $5`,
};

/**
 * For each use, whether the RNC used this key before in a confirmed document. Another certificate of the same holder counts
 * too, if both led to trusted issuers. Reads the table `known_signers` of the service.
 */
export async function areKnownSigners(queries: Queries, uses: readonly SignerUse[]): Promise<boolean[]> {
  if (uses.length === 0) return [];
  const { rows } = await queries.query<{ position: number }>(KNOWN, [
    uses.map(({ env }) => env),
    uses.map(({ rnc }) => rnc),
    uses.map(({ signer }) => signer.keyFingerprint),
    uses.map(({ signer }) => signer.holderId),
    uses.map(({ signer }) => signer.trusted === true),
    uses.map(({ at }) => at),
  ]);
  const known = new Set(rows.map(({ position }) => position - 1));
  return uses.map((_, index) => known.has(index));
}

/** Signers that are remembered as known. A signer that is known stays known. */
const MOST_REMEMBERED = 10_000;

/** Looks up one signer at a time, and remembers the known ones. */
export function createSignerLookUp(queries: Queries): (use: SignerUse) => Promise<boolean> {
  const remembered = new LRUCache<string, true>({ max: MOST_REMEMBERED });
  return async (use) => {
    const { env, rnc, signer } = use;
    const name = JSON.stringify([env, rnc, signer.keyFingerprint, signer.holderId, signer.trusted]);
    if (remembered.has(name)) return true;
    const known = (await areKnownSigners(queries, [use])).includes(true);
    if (known) remembered.set(name, true);
    return known;
  };
}

/** Notes that a document with this signer was confirmed. From then on the signer is known in later documents. */
export async function noteKnownSigner(queries: Queries, { env, rnc, signer, at }: SignerUse): Promise<void> {
  await queries.query(NOTE, [env, rnc, signer.keyFingerprint, signer.holderId, signer.trusted === true, at]);
}

/** Whether noting the use would change nothing. */
export async function isSignerNoted(queries: Queries, { env, rnc, signer, at }: SignerUse): Promise<boolean> {
  const { rows } = await queries.query(NOTED, [env, rnc, signer.keyFingerprint, signer.trusted === true, at]);
  return rows.length > 0;
}
