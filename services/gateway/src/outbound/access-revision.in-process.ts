import type { AccessRevision } from '../core/ports.js';

/** For the only gateway of a deployment: every change passes through this process, which notes it here. */
export interface NotedAccessRevision extends AccessRevision {
  current(): number;
  /** A transaction committed that raised the revision to this. */
  note(revision: number): void;
  /** Whether a transaction committed is not known: nothing remembered counts until the next one is noted. */
  forget(): void;
}

const UNKNOWN = -1;

export function createInProcessAccessRevision(): NotedAccessRevision {
  let latest = UNKNOWN;
  return {
    current: () => latest,
    note(revision) {
      latest = Math.max(latest, revision);
    },
    forget() {
      latest = UNKNOWN;
    },
  };
}
