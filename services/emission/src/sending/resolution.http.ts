import type { ResolutionOperations } from '@ecf/contracts';
import { toCalendarDate, toIsoDominican } from '@ecf/domain';
import { describe, merged, rangeOf } from '@ecf/domain/number-set';
import { type Cancellation, rangesOf } from '../cancellation/cancellation.js';
import { CANCELLATION_STATUS } from '../cancellation/cancellation-body.js';
import type { CancellationStore } from '../cancellation/ports.js';
import type { SettleCancellation } from '../cancellation/settle-cancellation.js';
import { withPublicErrors } from '../errors.http.js';
import { invalidRequest } from '../errors.js';
import type { NumberStore } from '../numbers/ports.js';
import type { PublishedDocuments } from '../published/published-documents.js';
import type { StartRun } from '../runs/start-run.js';
import type { ResolveByOperator } from './resolve-by-operator.js';

/** Operations for the administration, over HTTP or in the same process. */
export function resolutionOperations(parts: {
  published: Pick<PublishedDocuments, 'alarmed'>;
  resolve: ResolveByOperator;
  numbers: NumberStore;
  cancellations: Pick<CancellationStore, 'needingPerson'>;
  clock: () => Date;
  settle: SettleCancellation;
  startRun: StartRun;
}): ResolutionOperations {
  return {
    async numbersLeft({ issuer_rnc, ranges }) {
      const today = toCalendarDate(parts.clock());
      const left = await parts.numbers.left(issuer_rnc, ranges);
      return {
        ranges: left.map(({ next, remaining }, index) => {
          const expires = ranges[index]?.expires ?? null;
          return { next: expires !== null && expires < today ? null : next, remaining };
        }),
      };
    },
    async listAlarmed({ env, issuer_rnc, limit, after }) {
      const found = await parts.published.alarmed({ env: env ?? null, issuerRnc: issuer_rnc ?? null }, after, limit);
      return {
        documents: found.map(({ env, issuerRnc, encf, run, accountId, state, alarm, committedAt }) => ({
          env,
          issuer_rnc: issuerRnc,
          encf,
          run,
          account_id: accountId,
          state,
          alarm: alarm ?? '',
          committed_at: toIsoDominican(committedAt),
        })),
        next: found.length < limit ? null : (found.at(-1)?.emissionId ?? null),
      };
    },
    resolveDocument: withPublicErrors(async ({ env, issuer_rnc, encf, run, action, track_id, by }) => {
      const decision = action === 'adopt' ? ({ action, trackId: track_id ?? '' } as const) : ({ action } as const);
      const { state, status, trackId, applied } = await parts.resolve(
        { env, issuerRnc: issuer_rnc, encf, run },
        decision,
        by,
      );
      const done = { adopted: applied && action === 'adopt', resent: applied && action === 'resend' };
      return { env, issuer_rnc, encf, state, status, track_id: trackId, ...done };
    }),
    async listDoubtful({ env, issuer_rnc, settled, limit, after }) {
      const filter = { env: env ?? null, issuerRnc: issuer_rnc ?? null, settled: settled === 'true', limit, after };
      const found = await parts.cancellations.needingPerson(filter);
      return { cancellations: found.map(doubtful), next: found.length < limit ? null : (found.at(-1)?.id ?? null) };
    },
    startRun: withPublicErrors(async ({ env, issuer_rnc, account_id, reason, by }) => {
      const started = await parts.startRun({ env, issuerRnc: issuer_rnc, accountId: account_id, reason }, by);
      const { run, startedAt, superseded } = started;
      return { run, env, started_at: toIsoDominican(startedAt), superseded };
    }),
    settleCancellation: withPublicErrors(async ({ id, outcome, refused = [], note, by }) => {
      const ranges = refused.map(({ encf_desde, encf_hasta }, index) => {
        const range = rangeOf(encf_desde, encf_hasta);
        if (range !== null) return range;
        throw invalidRequest(['body', 'refused', index], 'is a range of one type, first not after last', 'order');
      });
      return doubtful(await parts.settle({ id, outcome, refused: ranges, note, by }));
    }),
  };
}

/** Ranges that are listed, and characters of an answer: enough to find the cancellation at the authority. */
const MOST_NAMED = 10;
const MOST_ANSWER = 2_000;

function doubtful(cancellation: Cancellation) {
  const { state, settledAt, settledNote } = cancellation;
  const ranges = merged(rangesOf(cancellation.lines));
  const more = ranges.length > MOST_NAMED ? `, and ${ranges.length - MOST_NAMED} ranges more` : '';
  return {
    id: cancellation.id,
    env: cancellation.env,
    issuer_rnc: cancellation.issuerRnc,
    account_id: cancellation.accountId,
    authority_status: CANCELLATION_STATUS[state] ?? state,
    alarm: cancellation.alarm,
    total_encf_canceled: cancellation.total,
    numbers: `${ranges.slice(0, MOST_NAMED).map(describe).join(', ')}${more}`,
    authority_response: cancellation.response?.slice(0, MOST_ANSWER) ?? null,
    created_at: toIsoDominican(cancellation.createdAt),
    settled_at: settledAt === null ? null : toIsoDominican(settledAt),
    note: settledNote,
  };
}
