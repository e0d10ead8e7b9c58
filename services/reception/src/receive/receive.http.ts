import { performance } from 'node:perf_hooks';
import { type BodyLimits, onAnswerEnd, requestIdOf } from '@ecf/http';
import { type FreeSpaceGuard, publicCaller, quotaSender, readXmlDocument } from '@ecf/public-ingress';
import type { Request, Response } from 'express';
import { refusalKind } from '../errors.http.js';
import type { ReceptionReport } from '../metrics.js';
import type { ProviderTokens } from '../tokens/provider-tokens.js';
import type { AnsweredDocuments } from './answered-documents.js';
import type { ReceiveDocument } from './receive-document.js';
import type { Acknowledged } from './record-document.js';

export interface AcknowledgeParts {
  readonly receive: ReceiveDocument;
  readonly answered: Pick<AnsweredDocuments, 'answered'>;
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
  const { answered, report, clock } = parts;

  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    const arrivedAt = clock();
    let documentId: number | null = null;
    // A connection that was lost before the whole answer left is not noted.
    onAnswerEnd(res, (complete) => {
      if (complete && documentId !== null) answered.answered(documentId, clock());
    });
    const caller = publicCaller(req);
    const { env, sender, call } = caller;
    const endRequest = report.begin();
    try {
      parts.freeSpace.require();
      const holder = parts.requireTokens ? await parts.tokens.verify(req.headers.authorization, env) : null;
      const bytes = await readXmlDocument(req, parts.bodyLimits);
      const origin = { requestId: requestIdOf(req), sender };
      const outcome = await parts.receive({ bytes, env, arrivedAt, origin, quotaSender: quotaSender(caller, holder) });
      report.answered(outcome, call, performance.now() - started);
      documentId = outcome.documentId;
      send(res, outcome);
    } catch (error) {
      report.refused(refusalKind(error), call);
      // The limit on the body may have answered already.
      if (!res.headersSent) throw error;
    } finally {
      endRequest();
    }
  };
}

function send(res: Response, { acknowledgement, reason }: Acknowledged): void {
  res.status(200);
  res.setHeader('content-type', 'application/xml; charset=utf-8');
  res.setHeader('cache-control', 'no-store');
  if (reason !== null) res.setHeader('x-rejection-reason', reason);
  res.end(acknowledgement);
}
