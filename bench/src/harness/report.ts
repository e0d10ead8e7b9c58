import { endWithChildren } from './ending.js';
import type { Comparison } from './measure.js';

// Every bench imports this file.
endWithChildren();

/** Prints one compared figure: ratio first, absolute times for orientation. */
export function reportComparison(name: string, reference: string, result: Comparison, goal?: string): void {
  const spread = `${result.least.toFixed(2)}–${result.most.toFixed(2)} over ${result.rounds} rounds`;
  const times = `${micro(result.subject)} against ${micro(result.reference)}`;
  line(`${name}: ${result.ratio.toFixed(2)} × ${reference}${goal ? ` (goal ${goal})` : ''}; ${spread}; ${times}`);
}

/** Prints the ratio of a comparison in processor time, which other programs of the machine disturb less than the clock. */
export function reportProcessorRatio({ processorRatio, rounds }: Comparison): void {
  line(`  in processor time ${processorRatio.toFixed(2)} × over ${rounds} rounds`);
}

/** Prints a heading. */
export function heading(text: string): void {
  process.stdout.write(`\n## ${text}\n`);
}

/** Prints one line of a report. */
export function line(text: string): void {
  process.stdout.write(`${text}\n`);
}

function micro(seconds: number): string {
  return seconds < 0.01 ? `${(seconds * 1e6).toFixed(0)} µs` : `${(seconds * 1e3).toFixed(1)} ms`;
}
