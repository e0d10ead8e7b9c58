const DATE_TIME =
  /^-?([0-9]{4,})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:(?:Z|[+-]([0-9]{2}):([0-9]{2}))[ \t\n\r]*)?$/;

const MAX_YEAR = 2 ** 31 - 1;

/**
 * Whether the text is an xs:dateTime as libxml2 reads it. Blanks are allowed only after a time zone. A fraction that rounds
 * up to a whole minute is not allowed.
 */
export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (!match) return false;
  const [, year = '', month, day, hour, minute, second, fraction = '', zoneHour = '0', zoneMinute = '0'] = match;
  if (year.length > 4 && year.startsWith('0')) return false;
  if (Number(year) === 0 || Number(year) > MAX_YEAR) return false;
  if (Number(month) < 1 || Number(month) > 12) return false;
  if (Number(day) < 1 || Number(day) > daysIn(Number(year), Number(month))) return false;
  const seconds = withFraction(Number(second), fraction);
  const endOfDay = hour === '24' && minute === '00' && seconds === 0;
  if (!endOfDay && (Number(hour) > 23 || Number(minute) > 59 || seconds >= 60)) return false;
  return Number(zoneHour) < 14 ? Number(zoneMinute) < 60 : Number(zoneHour) === 14 && Number(zoneMinute) === 0;
}

function withFraction(seconds: number, fraction: string): number {
  let sum = seconds;
  let weight = 1;
  for (const digit of fraction) {
    weight /= 10;
    sum += Number(digit) * weight;
  }
  return sum;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
