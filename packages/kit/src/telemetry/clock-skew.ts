import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

/** Seconds of difference that are logged and raise the alarm `EcfClockSkew`. */
const TOLERATED_SECONDS = 5;

/** Reports by how many seconds the clock of this process is ahead of another clock. */
export type ReportClockSkew = (against: 'database' | 'authority', seconds: number) => void;

/** Keeps the metric of the clock skew, and logs when a skew begins and ends. */
export function reportClockSkew(metrics: Metrics, logger: Logger): ReportClockSkew {
  const skew = metrics.gauge({
    name: 'ecf_clock_skew_seconds',
    help: 'Seconds by which the clock of this process is ahead of the clock of its database, or of the Date header of the authority.',
    labels: ['against'],
  });
  const wrong = new Set<string>();
  return (against, seconds) => {
    skew.set({ against }, seconds);
    const tolerated = Math.abs(seconds) <= TOLERATED_SECONDS;
    if (tolerated !== wrong.has(against)) return;
    const text = `the clock of this process ${tolerated ? 'agrees again with' : 'differs from'} the clock of the ${against}`;
    logger[tolerated ? 'info' : 'warn']({ against, seconds }, text);
    if (tolerated) wrong.delete(against);
    else wrong.add(against);
  };
}
