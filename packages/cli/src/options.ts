import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.js';

/** Long options of a command: `switch` stands alone, `value` takes one. */
export type Options = Readonly<Record<string, 'switch' | 'value'>>;

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Splits a command's arguments into options and files; `-` is a file (standard input), after `--` everything is one.
 *
 * @throws UsageError
 */
export function parseOptions(options: Options, args: string[]): { values: OptionValues; files: string[] } {
  const config = Object.fromEntries(
    Object.entries({ ...options, help: 'switch' as const }).map(([name, kind]) => [
      name,
      { type: kind === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args, options: config, allowPositionals: true });
    return { values: values as OptionValues, files: positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.replace(/ To specify a positional.*$/s, ''), { cause: error });
  }
}
