import type { Environment } from '@ecf/domain';

/** An announced maintenance of one environment. */
export interface Maintenance {
  readonly environment: Environment;
  readonly from: Date;
  readonly until: Date;
}

/** The words of the status service for the environments. Source: technical description p.49. */
export const STATUS_WORDS: Readonly<Record<Environment, string>> = {
  TesteCF: 'PreCertificacion',
  eCF: 'Produccion',
  CerteCF: 'Certificacion',
};

/** Maintenance as the status service announces it; null until a test announces some. */
export class MaintenancePlan {
  private announced: readonly Maintenance[] | null = null;

  announce(windows: readonly Maintenance[] | null): void {
    this.announced = windows;
  }

  list(): readonly Maintenance[] | null {
    return this.announced;
  }

  isUnderWay(word: string, now: Date): boolean {
    return (this.announced ?? []).some(
      ({ environment, from, until }) => STATUS_WORDS[environment] === word && from <= now && now < until,
    );
  }
}

const OFFSET_MS = 4 * 3_600_000;
const DAY_MS = 86_400_000;

/** The rows of a window, one for each Dominican day: `{ambiente, horaInicio, horaFin, dias}`. */
export function rowsOf({ environment, from, until }: Maintenance) {
  const rows = [];
  const last = until.getTime() - OFFSET_MS;
  for (let at = from.getTime() - OFFSET_MS; at < last; ) {
    const dayEnd = (Math.floor(at / DAY_MS) + 1) * DAY_MS;
    const end = Math.min(dayEnd, last);
    const [year, month, day] = new Date(at).toISOString().slice(0, 10).split('-');
    rows.push({
      ambiente: STATUS_WORDS[environment],
      horaInicio: clockTime(at),
      horaFin: clockTime(end + 59_999),
      dias: [`${day}-${month}-${year}`],
    });
    at = dayEnd;
  }
  return rows;
}

/** `9:00 AM`, cut to the minute. */
function clockTime(at: number): string {
  const minutes = Math.floor((at % DAY_MS) / 60_000);
  const hours = Math.floor(minutes / 60);
  return `${hours % 12 === 0 ? 12 : hours % 12}:${String(minutes % 60).padStart(2, '0')} ${hours < 12 ? 'AM' : 'PM'}`;
}
