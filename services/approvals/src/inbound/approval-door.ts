import { performance } from 'node:perf_hooks';
import type { ReceptionOperations } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { type BodyIntake, publicCaller, type StorageRoom, type Turns, takeXmlPartInTurn } from '@ecf/public-door';
import { requestIdOf, requestNames } from '@ecf/service-kit/http';
import type { Request, Response } from 'express';
import { ApprovalsError } from '../core/errors.js';
import type { ReceiveApproval } from '../core/received/receive-approval.js';
import type { ApprovalReport } from './approval-report.js';
import { refusalKind } from './error-mapping.js';

export interface ApprovalDoorParts {
  readonly receive: Pick<ReceiveApproval, 'receive'>;
  readonly intake: BodyIntake;
  readonly room: Pick<StorageRoom, 'require'>;
  readonly turns: Turns;
  /** Reception gives the tokens and knows their keys. */
  readonly reception: Pick<ReceptionOperations, 'verifyProviderToken'>;
  /** False where tokens are ignored, the default. */
  readonly requireTokens: boolean;
  readonly report: ApprovalReport;
  readonly clock: () => Date;
}

/** `POST /fe/aprobacioncomercial/api/ecf`: an approval in; 200 where it is taken, 400 where it is not. */
export function receiveApproval(parts: ApprovalDoorParts) {
  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    const arrivedAt = parts.clock();
    const { env, sender, network } = publicCaller(req);
    try {
      parts.room.require();
      if (parts.requireTokens) await requireToken(parts, req, env, network);
      const body = await parts.intake.read(req, network);
      try {
        const bytes = await takeXmlPartInTurn(parts.turns, network, body.bytes, req.headers['content-type']);
        const outcome = await parts.receive.receive({
          bytes,
          env,
          arrivedAt,
          requestId: requestIdOf(req),
          sender,
          network,
        });
        const where = { ...requestNames(req), sender, env };
        parts.report.answered(outcome, where, performance.now() - started);
        res.status(outcome.refusal === null ? 200 : 400);
        res.setHeader('cache-control', 'no-store');
        res.json(outcome.receipt);
      } finally {
        body.release();
      }
    } catch (error) {
      parts.report.refused(refusalKind(error), { ...requestNames(req), sender, env });
      // The size limit before this handler may have answered already.
      if (!res.headersSent) throw error;
    }
  };
}

async function requireToken(parts: ApprovalDoorParts, req: Request, env: Environment, network: string): Promise<void> {
  const authorization = req.headers.authorization ?? null;
  const { holder } = await parts.reception.verifyProviderToken({ env, authorization, network });
  if (holder !== null) return;
  throw new ApprovalsError(
    'invalid_provider_token',
    'This receiver asks for a Bearer token; get one from its seed and validation services.',
  );
}
