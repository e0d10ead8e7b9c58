import { type ActedBy, actOf, type ReportedAct, type RunStarted } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { DocumentKey } from '../attempt/attempt.js';
import { EmissionError } from '../errors.js';

/** A certification run that is to begin. */
export interface NewRun {
  readonly env: RunStarted['env'];
  readonly issuerRnc: string;
  readonly accountId: string;
  /** Why the authority restarted the set, in a person's words. */
  readonly reason: string;
}

/** A run that began. */
export interface StartedRun extends NewRun {
  readonly run: number;
  readonly startedAt: Date;
  /** Documents of the run before it. */
  readonly superseded: number;
}

export interface RunStore {
  /**
   * Begins the next run of the issuer, in one transaction with `run.started` and with the act of a person. Documents that are
   * being committed belong to the run before it or to the new one, never to both. Documents of the run before it that were not
   * sent become due, so that the background withdraws them. Null while another start is in work.
   */
  start(run: NewRun, now: Date, actOf: (started: StartedRun) => ReportedAct | null): Promise<StartedRun | null>;
  /** The present run of an issuer. */
  present(issuer: Pick<NewRun, 'issuerRnc'> & { readonly env: string }): Promise<number>;
  /** The trackIds that the authority gave the number of the document in its other runs. */
  trackIdsOfOthers(document: Required<DocumentKey>): Promise<string[]>;
}

export type StartRun = (run: NewRun, by: ActedBy | undefined) => Promise<StartedRun>;

/**
 * Begins a certification run. The authority restarts a certification set with the same numbers, so the documents of the taxpayer
 * in that environment make room.
 */
export function createStartRun({ runs, clock }: { runs: Pick<RunStore, 'start'>; clock: () => Date }): StartRun {
  return async (run, by) => {
    const now = clock();
    const started = await runs.start(run, now, (begun) => actOf(by, actionOf(begun), toIsoDominican(now)));
    if (started !== null) return started;
    throw new EmissionError(
      'conflict',
      `Another run of ${run.issuerRnc} in ${run.env} is starting. It supersedes the same documents, so do not start one more.`,
    );
  };
}

function actionOf({ accountId, issuerRnc, env, run, reason, superseded }: StartedRun) {
  return {
    action: 'run.start',
    target: `/accounts/${accountId}/taxpayers/${issuerRnc}/runs`,
    details: { env, run, reason, superseded },
  };
}
