import fs from 'node:fs';
import type { Measured } from './measured.js';
import { planOf } from './model.js';
import { readOptions, UsageError } from './options.js';
import { pageOf } from './report.js';

/** The figures that `BENCH_SAVE=true npm run bench -- sizing` wrote. */
export function readMeasured(): Measured {
  return JSON.parse(fs.readFileSync(new URL('../../sizing.measured.json', import.meta.url), 'utf8')) as Measured;
}

/** `npm run sizing`: the page or, with --json, the plan. */
export function sizing(args: readonly string[]): { output: string; error: string; code: number } {
  try {
    const { demand, json } = readOptions(args);
    const measured = readMeasured();
    const plan = planOf(measured, demand);
    return { output: json ? `${JSON.stringify(plan, null, 2)}\n` : pageOf(plan, measured), error: '', code: 0 };
  } catch (error) {
    if (error instanceof UsageError) return { output: '', error: `${error.message}\n`, code: 2 };
    throw error;
  }
}
