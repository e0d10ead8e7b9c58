import type { ActedBy, AuditAct, AuditEntry, AuditFilter } from '@ecf/contracts';

/** The audit log, in a chain of hashes. */
export interface AuditLog {
  append(acts: readonly AuditAct[]): Promise<void>;
  /** Appends the act of an event, unless the group has handled the event before. */
  appendOnce(group: string, eventId: string, act: AuditAct): Promise<void>;
  /** `seq` of the last entry; 0 before the first. */
  last(): Promise<number>;
  /** Resolves when there is an entry of this actor and request after `seq`, or after a second. */
  appeared(seq: number, by: ActedBy): Promise<void>;
  page(filter: AuditFilter): Promise<AuditEntry[]>;
}

/** A sign-in that failed. */
export interface SignInFailure {
  what: 'api_key' | 'administrator';
  /** `missing` = none was sent. */
  reason: 'missing' | 'unknown' | 'ended' | 'expired';
  /** Address of the sender. */
  sender: string;
  /** The key or administrator, as the audit log names them, if the secret is one that was valid. */
  known: { actor: string; target: string } | null;
}

export interface SignInFailures {
  failed(failure: SignInFailure): void;
  /** Stores what is not stored yet. */
  flush(): Promise<void>;
}
