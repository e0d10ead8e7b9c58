import type { ReportedService } from '@ecf/contracts';
import { type Finding, fault, ok } from './finding.js';

/** The alarm EcfClockSkew has the same limit. */
const TOLERATED_SECONDS = 5;

/** How far the clock of a process is from another one. */
export function clockFinding(subject: string, against: string, secondsAhead: number): Finding {
  const seconds = Math.abs(secondsAhead).toFixed(1);
  const detail = `${seconds} s ${secondsAhead < 0 ? 'behind' : 'ahead of'} the ${against}`;
  if (Math.abs(secondsAhead) <= TOLERATED_SECONDS) return ok('clocks', subject, detail);
  return fault('clocks', subject, detail, 'Synchronise the clocks of both machines by NTP (runbooks/processes.md).');
}

/** The clocks of the services, by their own comparisons: one finding if all agree, else one for each that differs. */
export function serviceClocks(services: readonly ReportedService[]): Finding[] {
  const compared = services.flatMap(({ service, clocks }) => clocks.map((clock) => ({ service, ...clock })));
  const faults = compared
    .map(({ service, against, seconds_ahead: seconds }) => clockFinding(service, against, seconds))
    .filter(({ state }) => state === 'fault');
  if (faults.length > 0) return faults;
  const largest = Math.max(0, ...compared.map(({ seconds_ahead: seconds }) => Math.abs(seconds)));
  const against = [...new Set(compared.map((clock) => clock.against))].join(' and ');
  return [ok('clocks', 'services', `at most ${largest.toFixed(1)} s from the clocks of ${against}`)];
}
