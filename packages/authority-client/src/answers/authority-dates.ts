import { toIsoDominican } from '@ecf/domain';

/** The authority's local time has this offset all year (contract section 18). */
const OFFSET = '-04:00';

/**
 * Reads a date of the authority as ISO 8601 with offset -04:00. Forms: `M/d/yyyy h:mm:ss tt` (en-US), `dd/MM/yyyy` and
 * `dd-MM-yyyy` with or without a 24-hour time, and ISO. Null if it is absent, unreadable, ambiguous or .NET's empty date.
 */
export function isoDate(text: string | null): string | null {
  if (text === null) return null;
  const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(text.trim());
  if (iso) return fromIso(iso[1]!, iso[2], iso[3]);
  const parts =
    /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?:\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?\s*m\.?)?)?$/i.exec(
      text.trim(),
    );
  if (!parts) return null;
  const [, first, second, year, hour, minute, rest, half] = parts;
  const order = dayAndMonth(Number(first), Number(second), half !== undefined);
  if (!order) return null;
  const hours = hour === undefined ? 0 : hours24(Number(hour), half);
  return local(Number(year), order.month, order.day, hours, Number(minute ?? 0), Number(rest ?? 0));
}

/** en-US order belongs to the 12-hour clock, Dominican order to all else; a number over 12 settles it. */
function dayAndMonth(first: number, second: number, american: boolean): { day: number; month: number } | null {
  if (first > 12) return { day: first, month: second };
  if (second > 12 || american) return { day: second, month: first };
  return { day: first, month: second };
}

function hours24(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

function fromIso(date: string, time: string | undefined, offset: string | undefined): string | null {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const [hours, minutes, seconds] = (time ?? '00:00:00').split(':').map(Number) as [number, number, number];
  const plain = local(year, month, day, hours, minutes, seconds);
  if (plain === null || offset === undefined) return plain;
  const instant = new Date(`${date}T${time}${offset}`);
  return Number.isNaN(instant.getTime()) ? null : toIsoDominican(instant);
}

function local(
  year: number,
  month: number,
  day: number,
  hours: number | null,
  minutes: number,
  seconds: number,
): string | null {
  if (year < 2000 || hours === null || hours > 23 || minutes > 59 || seconds > 59) return null;
  const date = new Date(Date.UTC(year, month - 1, day, hours, minutes, seconds));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return `${date.toISOString().slice(0, 19)}${OFFSET}`;
}
