import { performance } from 'node:perf_hooks';
import { type BodyIntake, publicCaller, type StorageRoom, type Turns, takeXmlPartInTurn } from '@ecf/public-door';
import { onAnswerEnd, requestIdOf, requestNames } from '@ecf/service-kit/http';
import type { Request, Response } from 'express';
import type { Answers } from '../core/documents/answers.js';
import type { Acknowledged, ReceiveDocument } from '../core/documents/receive-document.js';
import type { ProviderTokens } from '../core/providers/provider-tokens.js';
import { refusalKind } from './answer-errors.js';
import type { ReceptionReport } from './reception-report.js';

export interface AcknowledgeParts {
  readonly receive: Pick<ReceiveDocument, 'receive'>;
  readonly answers: Pick<Answers, 'arrive' | 'begin' | 'end'>;
  readonly intake: BodyIntake;
  readonly room: Pick<StorageRoom, 'require'>;
  readonly turns: Turns;
  readonly tokens: Pick<ProviderTokens, 'verify'>;
  /** False where tokens are ignored, the default. */
  readonly requireTokens: boolean;
  readonly report: ReceptionReport;
  readonly clock: () => Date;
}

/** `POST /fe/recepcion/api/ecf`: an e-CF in, its signed acknowledgement out, whatever it says. */
export function acknowledge(parts: AcknowledgeParts) {
  const { answers, report, clock } = parts;

  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    const arrival = { arrivedAt: clock(), moment: answers.arrive() };
    const left = departure(res, clock);
    const { env, sender, network } = publicCaller(req);
    try {
      parts.room.require();
      if (parts.requireTokens) await parts.tokens.verify(req.headers.authorization, env, network);
      const body = await parts.intake.read(req, network);
      try {
        const bytes = await takeXmlPartInTurn(parts.turns, network, body.bytes, req.headers['content-type']);
        const origin = { requestId: requestIdOf(req), sender };
        const outcome = await parts.receive.receive({ bytes, env, ...arrival, origin, network });
        report.answered(outcome, { ...requestNames(req), sender, env }, performance.now() - started);
        send(res, outcome, answers, left);
      } finally {
        body.release();
      }
    } catch (error) {
      report.refused(refusalKind(error), { ...requestNames(req), sender, env });
      // The size limit before this handler may have answered already.
      if (!res.headersSent) throw error;
    }
  };
}

function send(
  res: Response,
  outcome: Acknowledged,
  answers: AcknowledgeParts['answers'],
  left: Promise<Date | null>,
): void {
  const { documentId } = outcome;
  if (documentId !== null) {
    answers.begin(documentId);
    void left.then((at) => answers.end(documentId, at));
  }
  res.status(200);
  res.setHeader('content-type', 'application/xml; charset=utf-8');
  res.setHeader('cache-control', 'no-store');
  if (outcome.reason !== null) res.setHeader('x-rejection-reason', outcome.reason);
  res.end(outcome.acknowledgement);
}

/** When the answer was handed over completely; null where the connection was lost before. */
function departure(res: Response, clock: () => Date): Promise<Date | null> {
  return new Promise((resolve) => onAnswerEnd(res, (complete) => resolve(complete ? clock() : null)));
}
