import {
  type Confirmation,
  confirmationResult,
  pauseAfterAnswer,
  pauseAfterFailure,
  type QueriedStatus,
} from './confirmation.js';
import type { ConfirmationReport, ConfirmationStore, QueryState } from './ports.js';
import type { PromoteDocument } from './promote-document.js';

export interface ConfirmPorts {
  readonly confirmations: Pick<ConfirmationStore, 'answered' | 'unanswered' | 'competitor'>;
  readonly queryState: QueryState;
  readonly promote: PromoteDocument;
  readonly report: ConfirmationReport;
  readonly clock: () => Date;
}

/**
 * Queries the authority about one document and records the answer. An acceptance or a rejection is final. An unknown
 * document, or one in process, is queried again, with growing pauses, for 72 hours. A confirmed competing document takes the
 * number.
 */
export function createConfirmDocument({ confirmations, queryState, promote, report, clock }: ConfirmPorts) {
  const after = (ms: number) => new Date(clock().getTime() + ms);

  async function record(document: Confirmation, status: QueriedStatus, pauseMs: number | null): Promise<void> {
    const dueAt = pauseMs === null ? null : after(pauseMs);
    const outcome = await confirmations.answered({ documentId: document.documentId, status, at: clock(), dueAt });
    if (outcome === 'disputed') report.disputed(document, status === 'rejected' ? status : 'unknown');
  }

  return async function confirm(document: Confirmation): Promise<void> {
    const state = await queryState(document);
    const found = state === null ? null : confirmationResult(document, state);
    report.queried(document.env, state === null ? null : (found ?? 'pending'));
    if (state === null) {
      await confirmations.unanswered(document.documentId, after(pauseAfterFailure(document.failures + 1)));
      return;
    }
    if (found === 'rejected') return record(document, found, null);
    const competitor = found === null ? null : await confirmations.competitor(document.documentId);
    if (found === 'confirmed') {
      if (competitor !== null && (await promote(document, competitor))) return report.promoted(document);
      return record(document, found, null);
    }
    // The authority has one document of a number, so it will never have the others.
    const pauseMs = competitor?.holderConfirmed ? null : pauseAfterAnswer(document.answers + 1);
    // A document that stays in process for the whole time counts as not confirmed.
    await record(document, found ?? (pauseMs === null ? 'unknown' : document.status), pauseMs);
  };
}
