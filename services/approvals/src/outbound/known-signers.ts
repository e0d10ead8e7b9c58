import type { ReceptionOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { areKnownSigners } from '@ecf/public-ingress';
import type { Database } from '@ecf/service-kit/postgres';
import type { KnownSigners } from '../core/ports.js';

/** Signers of acknowledgements in PostgreSQL, and those of confirmed e-CF from reception. */
export function createKnownSigners(
  database: Database,
  reception: Pick<ReceptionOperations, 'isKnownSigner'>,
): KnownSigners {
  return {
    areKnown: (uses) => areKnownSigners(database, uses),
    async isKnown(use) {
      if ((await areKnownSigners(database, [use]))[0] === true) return true;
      const { env, rnc, signer, at } = use;
      const { keyFingerprint: key, holderId: holder, trusted } = signer;
      return (await reception.isKnownSigner({ env, rnc, key, holder, trusted, at: toIsoDominican(at) })).known;
    },
  };
}
