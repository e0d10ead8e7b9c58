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
  return new Date(Date.parse(`${date}T00:00:00Z`) + OFFSET_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000);
}

/** Days from one calendar day to another; negative when the second is earlier. */
export function daysBetween(from: CalendarDate, to: CalendarDate): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS);
}

/** Instants of an inclusive range of Dominican days: `from` belongs to it, `until` is the first instant after it. */
export function dominicanDays(first: CalendarDate, last: CalendarDate): { from: Date; until: Date } {
  return {
    from: new Date(Date.parse(`${first}T00:00:00Z`) + OFFSET_MS),
    until: new Date(Date.parse(`${last}T00:00:00Z`) + DAY_MS + OFFSET_MS),
  };
}

function local(instant: Date): string {
  return new Date(instant.getTime() - OFFSET_MS).toISOString();
}

function calendarDate(year: string, month: string, day: string): CalendarDate | null {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  if (m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m)) return null;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
