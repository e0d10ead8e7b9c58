import type { OptionValues } from '../options.js';
import { UsageError } from '../usage-error.js';

/**
 * JSON with `--json` or if another program reads; text for people on a terminal or with `--text`.
 */
export function wantsJson(values: OptionValues, stdout: NodeJS.WriteStream): boolean {
  if (values.json === true && values.text === true) throw new UsageError('--json and --text exclude each other.');
  return values.json === true || (values.text !== true && !stdout.isTTY);
}
