import { sign, verify } from 'node:crypto';
import type { ActedBy, ReportedAct } from '@ecf/contracts';
import type { ServiceKeys } from '@ecf/http/identity';

/** Proofs that an administrator made a request which the gateway passed to another service. */
export interface ActProofs {
  prove(by: ActedBy): string;
  /** Whether the proof of an act belongs to its actor and request. */
  isProven(act: Pick<ReportedAct, 'actor' | 'request_id' | 'proof'>): boolean;
}

/** Proofs are Ed25519 signatures with the key of the gateway. All instances share it; a former key counts while it is listed. */
export function createActProofs({ privateKey, publicKeys }: Pick<ServiceKeys, 'privateKey' | 'publicKeys'>): ActProofs {
  const signedText = ({ actor, request_id }: ActedBy) => Buffer.from(JSON.stringify(['act', actor, request_id]));
  return {
    prove: (by) => sign(null, signedText(by), privateKey).toString('base64url'),
    isProven({ proof = '', ...by }) {
      const signature = Buffer.from(proof, 'base64url');
      const ofGateway = [...publicKeys.values()].filter(({ service }) => service === 'gateway');
      return ofGateway.some(({ key }) => verify(null, signedText(by), key, signature));
    },
  };
}
