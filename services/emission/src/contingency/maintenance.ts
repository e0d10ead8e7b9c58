import type { AuthorityClient, MaintenanceWindow } from '@ecf/authority-client';
import { dominicanDays, ENVIRONMENTS, type Environment, parseDocumentDate, withoutAccents } from '@ecf/domain';

const DAY_MS = 86_400_000;

/** The words of the authority's status service for the environments. Source: Descripción Técnica v1.6 p.49. */
const WORDS: Readonly<Record<Environment, string>> = {
  TesteCF: 'precertificacion',
  eCF: 'produccion',
  CerteCF: 'certificacion',
};

/** The end of the announced maintenance that an environment has at a time; null without one. */
export function maintenanceEnd(windows: readonly MaintenanceWindow[], env: Environment, now: Date): Date | null {
  const ends = windows
    .filter(({ environment }) => plain(environment) === WORDS[env])
    .flatMap(({ startTime, endTime, days }) => days.map((day) => interval(day, startTime, endTime)))
    .flatMap((one) => (one !== null && one.from <= now && now < one.until ? [one.until] : []));
  return ends.length === 0 ? null : new Date(Math.max(...ends.map((end) => end.getTime())));
}

function plain(word: string): string {
  return withoutAccents(word).toLowerCase();
}

function interval(day: string, startTime: string, endTime: string): { from: Date; until: Date } | null {
  const date = parseDocumentDate(day);
  const start = timeOfDay(startTime);
  const end = timeOfDay(endTime);
  if (date === null || start === null || end === null) return null;
  const midnight = dominicanDays(date, date).from.getTime();
  return { from: new Date(midnight + start), until: new Date(midnight + (end > start ? end : end + DAY_MS)) };
}

/** Milliseconds since midnight of `9:00 AM`. */
function timeOfDay(text: string): number | null {
  const parts = /^\s*(\d{1,2}):(\d{2})\s*([AP])\.?\s*M\.?\s*$/i.exec(text);
  if (parts === null) return null;
  const hours = (Number(parts[1]) % 12) + (/p/i.test(parts[3] as string) ? 12 : 0);
  return (hours * 60 + Number(parts[2])) * 60_000;
}

export interface MaintenanceWatch {
  start(): void;
  stop(): Promise<void>;
}

/**
 * Reads the authority's announcements and makes its circuits probe during maintenance. A wrong announcement stops no document,
 * because a probe that succeeds closes the circuit.
 */
export function createMaintenanceWatch(
  authority: Pick<AuthorityClient, 'maintenanceWindows' | 'expectMaintenance'>,
  {
    statusKey,
    everyMs,
    clock,
    failed,
  }: {
    readonly statusKey: string;
    readonly everyMs: number;
    readonly clock: () => Date;
    readonly failed: (error: unknown) => void;
  },
): MaintenanceWatch {
  /** The ends that are announced to the circuits already. */
  const expected = new Map<Environment, number>();
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    // One call returns the windows of all environments.
    const answer = await authority.maintenanceWindows({ env: 'eCF', statusKey });
    if (answer.outcome !== 'verdict')
      return failed(
        new Error(
          `the status service answered ${answer.outcome}${answer.outcome === 'unknown' ? `: ${answer.detail}` : ''}`,
        ),
      );
    for (const env of ENVIRONMENTS) {
      const until = maintenanceEnd(answer.verdict, env, clock());
      if (until === null || expected.get(env) === until.getTime()) continue;
      expected.set(env, until.getTime());
      await authority.expectMaintenance(env, until);
    }
  }

  return {
    start() {
      const readAgain = () => {
        reading = read().catch(failed);
      };
      readAgain();
      timer = setInterval(readAgain, everyMs);
    },
    async stop() {
      clearInterval(timer);
      await reading;
    },
  };
}
