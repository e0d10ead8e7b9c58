const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;
const DOMINICAN_OFFSET = '-04:00';

/**
 * An ISO 8601 time of a request as an instant; without offset it is Dominican time. Null where there is no such time, or
 * none of the years that documents can carry (20xx).
 */
export function parseStatedTime(text: string): Date | null {
  const parts = ISO.exec(text.trim());
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second = '00', zone = DOMINICAN_OFFSET] = parts as unknown as string[];
  const calendar = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(calendar.getTime()) || calendar.toISOString().slice(0, 10) !== `${year}-${month}-${day}`)
    return null;
  const offset = /^z$/i.test(zone as string) ? 'Z' : (zone as string).replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2');
  const instant = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  if (Number.isNaN(instant.getTime())) return null;
  const inDominicanTime = new Date(instant.getTime() - 4 * 3_600_000).getUTCFullYear();
  return inDominicanTime >= 2000 && inDominicanTime <= 2099 ? instant : null;
}
