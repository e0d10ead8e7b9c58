import { useFormatter } from 'use-intl';

/** Amounts, days and numbers as the country writes them. */
export function useFormats() {
  const format = useFormatter();
  return {
    /** `RD$ 1,234.50` of text or a number. */
    money: (amount: string | number) =>
      `RD$ ${format.number(Number(amount), { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`,
    number: (value: number) => format.number(value),
    /** `1.2 M`, for the axis of a chart. */
    brief: (value: number) => format.number(value, { notation: 'compact', maximumFractionDigits: 1 }),
    /** `04/05/2026`. */
    day: (time: string) =>
      format.dateTime(new Date(time.length === 10 ? `${time}T12:00:00-04:00` : time), {
        day: '2-digit',
        month: '2-digit',
        year: 'numeric',
      }),
    /** `10:05:30 a. m.` */
    clock: (time: string) => format.dateTime(new Date(time), { timeStyle: 'medium' }),
    /** `4 may`. */
    shortDay: (day: string) => format.dateTime(new Date(`${day}T12:00:00-04:00`), { day: 'numeric', month: 'short' }),
    moment: (time: string) => format.dateTime(new Date(time), { dateStyle: 'medium', timeStyle: 'medium' }),
    month: (month: string) =>
      format.dateTime(new Date(`${month}-15T12:00:00-04:00`), { month: 'short', year: '2-digit' }),
    /** `1-31-00000-1` of nine digits, `001-0000000-1` of eleven. */
    rnc: (rnc: string) =>
      rnc.length === 9
        ? rnc.replace(/^(\d)(\d{2})(\d{5})(\d)$/, '$1-$2-$3-$4')
        : rnc.replace(/^(\d{3})(\d{7})(\d)$/, '$1-$2-$3'),
  };
}

const DAY_MS = 86_400_000;

/** The first day of the last thirty, today included. */
export const monthAgo = () => dayBefore(29);

/** `YYYY-MM-DD` in the Dominican Republic, some days before now. */
export function dayBefore(days: number): string {
  return new Date(Date.now() - 4 * 3_600_000 - days * DAY_MS).toISOString().slice(0, 10);
}
