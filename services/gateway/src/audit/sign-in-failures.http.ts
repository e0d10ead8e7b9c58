import type { AuditAct } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { senderNetwork } from '@ecf/http';
import type { Logger } from '@ecf/kit/telemetry';
import type { AuditLog, SignInFailure, SignInFailures } from './ports.js';

/** Milliseconds between two entries about failed sign-ins, unless somebody reads the log. */
const EVERY_MS = 60_000;
/** Milliseconds after the first failure, or the first one in a quiet minute. */
const FIRST_MS = 1_000;
/** Actors with their own entry at a time; a flood from more of them is one entry, so that strangers do not fill the log. */
const MOST_ACTORS = 20;
const OTHERS = 'sender:others';

/**
 * Counts failed sign-ins for each actor in memory, and appends one entry for each actor a minute to the audit log. Counts that
 * could not be appended are kept for the next time.
 */
export function createSignInFailures(options: {
  audit: Pick<AuditLog, 'append'>;
  logger: Logger;
  clock: () => Date;
}): SignInFailures {
  let counted = new Map<string, Counted>();
  let timer: NodeJS.Timeout | null = null;
  let flushedAt = 0;

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (counted.size === 0) return;
    const failures = [...counted.values()];
    counted = new Map();
    const now = options.clock();
    flushedAt = now.getTime();
    try {
      await options.audit.append(failures.map((one) => entry(one, now)));
    } catch (error) {
      for (const one of failures) count(one);
      schedule();
      options.logger.warn({ err: error }, 'failed sign-ins could not be appended to the audit log; they are kept');
    }
  }

  function count(own: Counted): void {
    const hasPlace = counted.has(keyOf(own)) || counted.size < MOST_ACTORS;
    const one = hasPlace ? own : { ...own, actor: OTHERS, target: ALL[own.what] };
    counted.set(keyOf(one), { ...one, count: own.count + (counted.get(keyOf(one))?.count ?? 0) });
  }

  function schedule(): void {
    // The clock may be set back.
    const wait = Math.min(Math.max(FIRST_MS, flushedAt + EVERY_MS - options.clock().getTime()), EVERY_MS);
    timer ??= setTimeout(flush, wait).unref();
  }

  return {
    flush,
    failed({ what, reason, sender, known }) {
      const actor = known?.actor ?? `sender:${senderNetwork(sender)}`;
      count({ actor, target: known?.target ?? ALL[what], what, reason, count: 1 });
      schedule();
    },
  };
}

interface Counted extends Pick<SignInFailure, 'what' | 'reason'> {
  readonly actor: string;
  readonly target: string;
  readonly count: number;
}

/** The target of failures without a known object. */
const ALL: Record<SignInFailure['what'], string> = { api_key: '/accounts', administrator: '/administrators' };

function keyOf({ actor, what, reason }: Omit<Counted, 'count'>): string {
  return `${actor} ${what} ${reason}`;
}

function entry({ actor, target, ...details }: Counted, now: Date): AuditAct {
  return { at: toIsoDominican(now), actor, action: 'sign_in.fail', target, details, request_id: null };
}
