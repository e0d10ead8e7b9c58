import type { DocumentReader } from '@ecf/archive';
import type { AuthorityClient } from '@ecf/authority-client';
import type { EmissionStore, Observer, ReachCheckpoint } from '../attempt/ports.js';
import type { Recorder } from '../attempt/recorder.js';
import type { ContingencyStore } from '../contingency/ports.js';
import type { RunStore } from '../runs/start-run.js';

/** The operations of the authority for documents. */
export type Authority = Pick<
  AuthorityClient,
  | 'submitDocument'
  | 'submitConsumerSummary'
  | 'queryResult'
  | 'queryState'
  | 'queryTrackIds'
  | 'queryConsumerSummary'
  | 'requestSeed'
  | 'isUnreachable'
  | 'maintenanceUntil'
>;

/** What sending and following up documents uses. */
export interface SendingPorts {
  readonly emissions: EmissionStore;
  readonly recorder: Recorder;
  readonly authority: Authority;
  readonly contingency: ContingencyStore;
  readonly runs: RunStore;
  /** Reads documents from the database and the archive. */
  readonly archive: DocumentReader;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly checkpoint: ReachCheckpoint;
}
