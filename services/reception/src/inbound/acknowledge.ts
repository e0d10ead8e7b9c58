import { performance } from 'node:perf_hooks';
import { type FreeSpaceGuard, publicCaller, quotaSender, readXmlDocument } from '@ecf/public-ingress';
import { type BodyLimits, onAnswerEnd, requestIdOf } from '@ecf/service-kit/http';
import type { Request, Response } from 'express';
import type { Answers } from '../core/documents/answers.js';
import type { ReceiveDocument } from '../core/documents/receive-document.js';
import type { Acknowledged } from '../core/documents/record-document.js';
import type { ProviderTokens } from '../core/providers/provider-tokens.js';
import { refusalKind } from './answer-errors.js';
import type { ReceptionReport } from './reception-report.js';

export interface AcknowledgeParts {
  readonly receive: ReceiveDocument;
  readonly answers: Pick<Answers, 'arrive' | 'begin' | 'end'>;
  readonly bodyLimits: BodyLimits;
  readonly freeSpace: Pick<FreeSpaceGuard, 'require'>;
  readonly tokens: Pick<ProviderTokens, 'verify'>;
  /** False where tokens are ignored, the default. */
  readonly requireTokens: boolean;
  readonly report: ReceptionReport;
  readonly clock: () => Date;
}

/** `POST /fe/recepcion/api/ecf`: receives an e-CF and answers its signed acknowledgement, positive or negative. */
export function acknowledge(parts: AcknowledgeParts) {
  const { answers, report, clock } = parts;

  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    const arrival = { arrivedAt: clock(), moment: answers.arrive() };
    const left = answerLeft(res, clock);
    const caller = publicCaller(req);
    const { env, sender, call } = caller;
    const endRequest = report.begin();
    try {
      parts.freeSpace.require();
      const holder = parts.requireTokens ? await parts.tokens.verify(req.headers.authorization, env) : null;
      const bytes = await readXmlDocument(req, parts.bodyLimits);
      const origin = { requestId: requestIdOf(req), sender };
      const outcome = await parts.receive({ bytes, env, ...arrival, origin, quotaSender: quotaSender(caller, holder) });
      report.answered(outcome, call, performance.now() - started);
      send(res, outcome, answers, left);
    } catch (error) {
      report.refused(refusalKind(error), call);
      // The limit on the body may have answered already.
      if (!res.headersSent) throw error;
    } finally {
      endRequest();
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

/** When the whole answer left; null where the connection was lost before. */
function answerLeft(res: Response, clock: () => Date): Promise<Date | null> {
  return new Promise((resolve) => onAnswerEnd(res, (complete) => resolve(complete ? clock() : null)));
}
