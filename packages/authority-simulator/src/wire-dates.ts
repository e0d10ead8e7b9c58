/** Santo Domingo is at UTC-4 all year. */
const OFFSET_MS = 4 * 3_600_000;

/** `2019-03-13T14:33:32.8617792-04:00`: seven fractional digits, as seeds carry it. */
export function seedDate(instant: Date): string {
  return `${local(instant).slice(0, 23)}0000-04:00`;
}

/** `yyyy-MM-ddTHH:mm:ssZ`, as tokens carry it. */
export function tokenDate(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}

/** `6/23/2026 5:45:47 PM`: the result query answers in the American form. */
export function resultDate(instant: Date): string {
  const text = local(instant);
  const hours = Number(text.slice(11, 13));
  const [month, day] = [Number(text.slice(5, 7)), Number(text.slice(8, 10))];
  return `${month}/${day}/${text.slice(0, 4)} ${hours % 12 || 12}:${text.slice(14, 19)} ${hours < 12 ? 'AM' : 'PM'}`;
}

/** `23/06/2026`: the query for trackIds. */
export function trackIdDate(instant: Date): string {
  const text = local(instant);
  return `${text.slice(8, 10)}/${text.slice(5, 7)}/${text.slice(0, 4)}`;
}

function local(instant: Date): string {
  return new Date(instant.getTime() - OFFSET_MS).toISOString();
}
