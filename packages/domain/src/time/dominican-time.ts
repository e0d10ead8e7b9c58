import { numberAt } from '../text/digits.js';

/** America/Santo_Domingo: UTC-4 all year, no daylight saving. Source: Formato e-CF v1.0 p.58. */
const OFFSET_MS = 4 * 3_600_000;
const DAY_MS = 86_400_000;
const YEAR_10000 = Date.UTC(10_000, 0);

/** A calendar day as `YYYY-MM-DD`; compares as text. */
export type CalendarDate = string;

/** `DD-MM-YYYY HH:MM:SS` in Dominican time, as FechaHoraFirma is written. */
export function formatSignatureDateTime(instant: Date): string {
  const iso = local(instant);
  return `${iso.slice(8, 10)}-${iso.slice(5, 7)}-${iso.slice(0, 4)} ${iso.slice(11, 19)}`;
}

/** `YYYY-MM-DD HH:MM:SS` in Dominican time, as `signature_datetime` of the public interface is written. */
export function formatSortableDateTime(instant: Date): string {
  return local(instant).replace('T', ' ');
}

/** ISO 8601 with the Dominican offset, to the second: `2026-06-23T17:45:47-04:00`. */
export function toIsoDominican(instant: Date): string {
  return `${local(instant)}-04:00`;
}

/** The Dominican calendar day of an instant. */
export function toCalendarDate(instant: Date): CalendarDate {
  return local(instant).slice(0, 10);
}

/** A document's `DD-MM-YYYY` (day and month with one or two digits) as a calendar day; null when there is no such day. */
export function parseDocumentDate(text: string): CalendarDate | null {
  if (text.length < SHORTEST_DATE) return null;
  if (text.length === 10 && hasDashes(text)) {
    return calendarDate(numberAt(text, 6, 10), numberAt(text, 3, 5), numberAt(text, 0, 2));
  }
  const parts = /^\s*([0-9]{1,2})-([0-9]{1,2})-([0-9]{4})\s*$/.exec(text);
  return parts ? calendarDate(Number(parts[3]), Number(parts[2]), Number(parts[1])) : null;
}

/** A calendar day written as documents write it, `DD-MM-YYYY`. */
export function formatDocumentDate(date: CalendarDate): string {
  return `${date.slice(8, 10)}-${date.slice(5, 7)}-${date.slice(0, 4)}`;
}

/**
 * FechaHoraFirma and similar times (`DD-MM-YYYY HH:MM:SS`, Dominican time) as an instant. Null if there is no such time, or
 * if it is in the year 10000 of UTC, which has no form with four digits.
 */
export function parseSignatureDateTime(text: string): Date | null {
  return parseUsualTime(text) ?? parseLooseTime(text);
}

/** A time whose parts have all their digits; null for any other text. */
function parseUsualTime(text: string): Date | null {
  if (text.length !== 19 || !hasDashes(text) || text.charCodeAt(10) !== SPACE) return null;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return null;
  const year = numberAt(text, 6, 10);
  const month = numberAt(text, 3, 5);
  const day = numberAt(text, 0, 2);
  if (!isDay(year, month, day)) return null;
  return timeOfDay(
    Date.UTC(year, month - 1, day),
    numberAt(text, 11, 13),
    numberAt(text, 14, 16),
    numberAt(text, 17, 19),
  );
}

function parseLooseTime(text: string): Date | null {
  const parts = /^\s*([0-9]{1,2}-[0-9]{1,2}-[0-9]{4}) ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})\s*$/.exec(text);
  const date = parts && parseDocumentDate(parts[1]!);
  if (!parts || !date) return null;
  return timeOfDay(startOf(date) - OFFSET_MS, Number(parts[2]), Number(parts[3]), Number(parts[4]));
}

/** The instant at a Dominican time of a day, given as its UTC midnight; null if a day has no such time. */
function timeOfDay(midnight: number, hours: number, minutes: number, seconds: number): Date | null {
  if (!(hours <= 23 && minutes <= 59 && seconds <= 59)) return null;
  const instant = midnight + OFFSET_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000;
  return instant < YEAR_10000 ? new Date(instant) : null;
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
const SPACE = 32;
const COLON = 58;

/** `1-1-2026`. */
const SHORTEST_DATE = 8;

/** Whether the dashes of `DD-MM-YYYY` are in their places. */
function hasDashes(text: string): boolean {
  return text.charCodeAt(2) === DASH && text.charCodeAt(5) === DASH;
}

/** Dominican times by seconds since 1970. Each time of a present document is written a dozen times. */
const written = new Map<number, string>();
const MOST_WRITTEN = 64;

/** `YYYY-MM-DDTHH:MM:SS` in Dominican time. */
function local(instant: Date): string {
  const second = Math.floor(instant.getTime() / 1000);
  let text = written.get(second);
  if (text === undefined) {
    text = new Date(second * 1000 - OFFSET_MS).toISOString().slice(0, -'.000Z'.length);
    if (written.size >= MOST_WRITTEN) written.clear();
    written.set(second, text);
  }
  return text;
}

/** Midnight of a Dominican day. */
function startOf(date: CalendarDate): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8, 10))) + OFFSET_MS;
}

function calendarDate(year: number, month: number, day: number): CalendarDate | null {
  if (!isDay(year, month, day)) return null;
  return `${year}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
}

/** Whether the calendar has the day. Years have four digits; false if a part is not a number. */
function isDay(year: number, month: number, day: number): boolean {
  return year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;
const DOMINICAN_OFFSET = '-04:00';

/**
 * An ISO 8601 time of a request as an instant; without offset it is Dominican time. Null if there is no such time, or
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
