import type { ActedBy, AuditAct } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { requestIdOf } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import type { Request, Response } from 'express';
import { callOf } from '../edge/edge.http.js';
import type { ActProofs } from './act-proofs.js';
import type { AuditLog } from './ports.js';

/** Rejects with 401 if the actor has ended since its request was admitted. */
type RequireValidActor = (by: ActedBy) => Promise<void>;

/** The actor, for the audit log: an administrator, or an API key. */
export function actedBy(req: Request, res: Response): ActedBy {
  const { administrator, holder } = callOf(res);
  return { actor: administrator?.name ?? `api_key:${holder?.keyId}`, request_id: requestIdOf(req) };
}

/** Runs an act in another service, with who does it. */
export type Acting = <T>(req: Request, res: Response, act: (by: ActedBy) => Promise<T>) => Promise<T>;

/**
 * Waits, for a short time, until the event of the act is in the audit log, so that the administrator finds it there. The act does not
 * depend on it.
 */
export function createActing(
  requireValidActor: RequireValidActor,
  audit: Pick<AuditLog, 'last' | 'appeared'>,
  proofs: Pick<ActProofs, 'prove'>,
): Acting {
  return async (req, res, act) => {
    const by = actedBy(req, res);
    await requireValidActor(by);
    const after = await audit.last();
    const result = await act({ ...by, proof: proofs.prove(by) });
    await audit.appeared(after, by);
    return result;
  };
}

/** Runs an act in a service that keeps no acts itself, with its entry in the audit log. */
export type Recorded = <T>(
  req: Request,
  res: Response,
  act: Pick<AuditAct, 'action' | 'target' | 'details'>,
  run: () => Promise<T>,
) => Promise<T>;

/**
 * Writes the audit entry before the act, so that every act has one, also after a crash. A second entry says that the
 * act failed.
 */
export function createRecorded(
  requireValidActor: RequireValidActor,
  audit: Pick<AuditLog, 'append'>,
  clock: () => Date,
): Recorded {
  return async (req, res, act, run) => {
    const by = actedBy(req, res);
    await requireValidActor(by);
    const record = (details: AuditAct['details']) =>
      audit.append([{ at: toIsoDominican(clock()), ...by, ...act, details }]);
    await record(act.details);
    return run().catch(async (error) => {
      await record({ ...act.details, not_started: error instanceof ApiError ? error.code : 'unconfirmed' });
      throw error;
    });
  };
}
