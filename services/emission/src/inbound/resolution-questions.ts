import type { ResolutionOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { ResolveByOperator } from '../core/resolve-by-operator.js';
import type { ToldDocuments } from '../core/told-documents.js';
import { refusing } from './internal.js';

/** What those ask who operate the deployment, over HTTP or in the same process. */
export function resolutionOperations(parts: {
  told: Pick<ToldDocuments, 'alarmed'>;
  resolve: ResolveByOperator;
}): ResolutionOperations {
  return {
    async listAlarmed({ env, issuer_rnc, limit, after }) {
      const found = await parts.told.alarmed({ env: env ?? null, issuerRnc: issuer_rnc ?? null }, after, limit);
      return {
        documents: found.map(({ env, issuerRnc, encf, accountId, state, alarm, committedAt }) => ({
          env,
          issuer_rnc: issuerRnc,
          encf,
          account_id: accountId,
          state,
          alarm: alarm ?? '',
          committed_at: toIsoDominican(committedAt),
        })),
        next: found.length < limit ? null : (found.at(-1)?.emissionId ?? null),
      };
    },
    resolveDocument: refusing(async ({ env, issuer_rnc, encf, action, track_id }) => {
      const decision = action === 'adopt' ? ({ action, trackId: track_id ?? '' } as const) : ({ action } as const);
      const { state, status, trackId } = await parts.resolve({ env, issuerRnc: issuer_rnc, encf }, decision);
      return { env, issuer_rnc, encf, state, status, track_id: trackId };
    }),
  };
}
