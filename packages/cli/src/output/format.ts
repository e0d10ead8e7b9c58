import type { OptionValues } from '../options.js';
import { UsageError } from '../usage-error.js';

/**
 * JSON where `--json` asks for it or another program reads; for people on a terminal, or with `--text`, readable.
 */
export function wantsJson(values: OptionValues, stdout: NodeJS.WriteStream): boolean {
  if (values.json === true && values.text === true) throw new UsageError('--json and --text exclude each other.');
  return values.json === true || (values.text !== true && !stdout.isTTY);
}
