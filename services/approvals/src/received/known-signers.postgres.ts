import { areKnownSigners, isSignerNoted, noteKnownSigner, type SignerUse } from '@ecf/public-ingress';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import type { KnownSigners } from './ports.js';
import { confirmAnswers, lockSigners } from './received-approvals.postgres.js';

/** Known signers in PostgreSQL. */
export function createKnownSigners(database: Database): KnownSigners {
  return {
    areKnown: (uses) => areKnownSigners(database, uses),
    confirmed: (use) => database.transaction((tx) => makeKnown(tx, use)),
  };
}

/** From now on the signer is known for the RNC, and its earlier answers are confirmed. */
export async function makeKnown(tx: Transaction, use: SignerUse): Promise<void> {
  // Documents of earlier versions have no key.
  if (use.signer.keyFingerprint === '' || (await isSignerNoted(tx, use))) return;
  await lockSigners(tx, use.env, use.rnc);
  await noteKnownSigner(tx, use);
  await confirmAnswers(tx, use);
}
