import { type DeliveryChanged, type SigningOperations, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { SignSeed } from '../core/credentials/sign-seed.js';
import type { EmissionStore } from '../core/ports.js';
import { refusing } from './internal.js';

/** What those ask who deliver documents, over HTTP or in the same process. */
export function signingOperations(signSeed: SignSeed): SigningOperations {
  return {
    signSeed: refusing(async ({ env, issuer_rnc, encf, seed }) => {
      const { fingerprint, signed } = await signSeed({ env, issuerRnc: issuer_rnc, encf }, seed);
      return { fingerprint, signed_seed: signed };
    }),
  };
}

/** Erases certificates that came along with documents once nothing is left to be done for those. Can be repeated. */
export function subscribeDeliveries(
  bus: Bus,
  group: string,
  emissions: Pick<EmissionStore, 'eraseCertificate'>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.deliveries.name],
    group,
    async handler({ data }) {
      const { env, issuer_rnc, encf, final } = data as DeliveryChanged;
      if (final === true) await emissions.eraseCertificate({ env, issuerRnc: issuer_rnc, encf });
    },
  });
}
