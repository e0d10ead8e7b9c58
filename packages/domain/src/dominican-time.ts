/** America/Santo_Domingo: UTC-4 all year, no daylight saving. Source: Formato e-CF v1.0 p.58. */
const OFFSET_MS = 4 * 3_600_000;
const DAY_MS = 86_400_000;

/** A calendar day as `YYYY-MM-DD`; compares as text. */
export type CalendarDate = string;

/** `DD-MM-YYYY HH:MM:SS` in Dominican time, as FechaHoraFirma is written. */
export function formatSignatureDateTime(instant: Date): string {
  const iso = local(instant);
  return `${iso.slice(8, 10)}-${iso.slice(5, 7)}-${iso.slice(0, 4)} ${iso.slice(11, 19)}`;
}

/** `YYYY-MM-DD HH:MM:SS` in Dominican time, as `signature_datetime` of the public interface is written. */
export function formatSortableDateTime(instant: Date): string {
  return local(instant).slice(0, 19).replace('T', ' ');
}

/** ISO 8601 with the Dominican offset, to the second: `2026-06-23T17:45:47-04:00`. */
export function toIsoDominican(instant: Date): string {
  return `${local(instant).slice(0, 19)}-04:00`;
}

/** The Dominican calendar day of an instant. */
export function toCalendarDate(instant: Date): CalendarDate {
  return local(instant).slice(0, 10);
}

/** A document's `DD-MM-YYYY` (day and month with one or two digits) as a calendar day; null when there is no such day. */
export function parseDocumentDate(text: string): CalendarDate | null {
  if (text.length === 10 && text.charCodeAt(2) === DASH && text.charCodeAt(5) === DASH) {
    return calendarDate(text.slice(6), text.slice(3, 5), text.slice(0, 2));
  }
  const parts = /^\s*([0-9]{1,2})-([0-9]{1,2})-([0-9]{4})\s*$/.exec(text);
  return parts ? calendarDate(parts[3]!, parts[2]!, parts[1]!) : null;
}

/** A calendar day written as documents write it, `DD-MM-YYYY`. */
export function formatDocumentDate(date: CalendarDate): string {
  return `${date.slice(8, 10)}-${date.slice(5, 7)}-${date.slice(0, 4)}`;
}

/** FechaHoraFirma and its like (`DD-MM-YYYY HH:MM:SS`, Dominican time) as an instant; null when there is no such time. */
export function parseSignatureDateTime(text: string): Date | null {
  const parts = /^\s*([0-9]{1,2}-[0-9]{1,2}-[0-9]{4}) ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})\s*$/.exec(text);
  const date = parts && parseDocumentDate(parts[1]!);
  if (!parts || !date) return null;
  const [hours, minutes, seconds] = [Number(parts[2]), Number(parts[3]), Number(parts[4])];
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  return new Date(startOf(date) + ((hours * 60 + minutes) * 60 + seconds) * 1000);
}

/** Days from one calendar day to another; negative when the second is earlier. */
export function daysBetween(from: CalendarDate, to: CalendarDate): number {
  return Math.round((startOf(to) - startOf(from)) / DAY_MS);
}

/** Instants of an inclusive range of Dominican days: `from` belongs to it, `until` is the first instant after it. */
export function dominicanDays(first: CalendarDate, last: CalendarDate): { from: Date; until: Date } {
  return { from: new Date(startOf(first)), until: new Date(startOf(last) + DAY_MS) };
}

const DASH = 45;

function local(instant: Date): string {
  return new Date(instant.getTime() - OFFSET_MS).toISOString();
}

/** Midnight of a Dominican day. */
function startOf(date: CalendarDate): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8, 10))) + OFFSET_MS;
}

function calendarDate(year: string, month: string, day: string): CalendarDate | null {
  const [y, m, d] = [wholeNumber(year), wholeNumber(month), wholeNumber(day)];
  if (!(y >= 1000 && m >= 1 && m <= 12 && d >= 1 && d <= daysInMonth(y, m))) return null;
  return `${year}-${m < 10 ? `0${m}` : m}-${d < 10 ? `0${d}` : d}`;
}

/** The number that decimal digits write; NaN for anything else. */
function wholeNumber(digits: string): number {
  let value = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
