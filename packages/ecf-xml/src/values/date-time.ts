const DATE_TIME =
  /^(-?)([0-9]{4,})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|[+-]([0-9]{2}):([0-9]{2}))?$/;

/** Whether the text, without the blanks around it, is an xs:dateTime. */
export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (!match) return false;
  const [, , year = '', month, day, hour, minute, second, zoneHour = '0', zoneMinute = '0'] = match;
  if (year.length > 4 && year.startsWith('0')) return false;
  if (/^0+$/.test(year)) return false;
  if (Number(month) < 1 || Number(month) > 12) return false;
  if (Number(day) < 1 || Number(day) > daysIn(year, Number(month))) return false;
  const midnight = hour === '24' && minute === '00' && Number(second) === 0;
  if (!midnight && (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)) return false;
  return Number(zoneHour) < 14 ? Number(zoneMinute) < 60 : Number(zoneHour) === 14 && Number(zoneMinute) === 0;
}

function daysIn(year: string, month: number): number {
  if (month === 2) {
    const last4 = Number(year.slice(-4));
    return (last4 % 4 === 0 && last4 % 100 !== 0) || last4 % 400 === 0 ? 29 : 28;
  }
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
