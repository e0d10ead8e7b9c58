import { printable } from './output.js';

const GIBIBYTE = 2 ** 30;
const DEFAULT_COLUMNS = 80;

/** `12.3 GiB`. */
export const gibibytes = (bytes: number) => `${(bytes / GIBIBYTE).toFixed(1)} GiB`;

/** The labels of an alarm before its value: `TesteCF, due: `. */
export function labelled(labels: Readonly<Record<string, string>>): string {
  const values = Object.values(labels).filter((value) => value !== '');
  return values.length === 0 ? '' : `${printable(values.join(', '))}: `;
}

/** An age in its largest unit: `41 s`, `12 min`, `5 h`, `3 days`. */
export function age(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** Columns of the terminal; 80 if the output is not one. */
export const columnsOf = ({ columns }: NodeJS.WriteStream) => columns ?? DEFAULT_COLUMNS;
