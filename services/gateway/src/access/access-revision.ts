import type { AccessRevision } from './ports.js';

/** For the only gateway of a deployment: every change passes through this process, which notes it here. */
export interface NotedAccessRevision extends AccessRevision {
  current(): number;
  /** Notes the revision of a committed transaction. */
  note(revision: number): void;
  /** Called when a commit is in doubt: remembered keys are stale until the next revision is noted. */
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
