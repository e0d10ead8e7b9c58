import type { Console, ExitCode } from './command.js';
import { openGatewayAdmin, rowsOf } from './gateway-admin.js';
import { type OptionValues, takesOnly, UsageError } from './options.js';
import { RowWriter, wantsJson } from './output.js';

/** A kind of record that waits for a person's decision: its name, its routes and its text form. */
export interface Settleable<Row> {
  /** With its article, as in "the id of an approval". */
  readonly one: string;
  /** The options of a settlement, as in "--accepted or --rejected". */
  readonly choices: string;
  /** The word for the options that a list refuses, as in "neither". */
  readonly none: string;
  /** Path under the gateway's administration, and the key of a page's rows. */
  readonly list: { readonly path: string; readonly rows: string };
  readonly settlePath: string;
  /** The options of a list, and of a settlement. */
  readonly options: { readonly list: readonly string[]; readonly settle: readonly string[] };
  /** The filters of a list besides `--settled`. */
  narrowed?(values: OptionValues): Record<string, string>;
  /** The person's decision; null if the options have none. Throws UsageError for an incomplete one. */
  settlement(values: OptionValues): object | null;
  /** One row, for people. */
  readable(row: Row): string;
}

/** Whether a word is an id that the gateway gave. */
export function isId(word: string): boolean {
  return /^[1-9]\d{0,14}$/.test(word);
}

/** Runs `list`, or `settle ID` with a person's word. Throws UsageError for anything else. */
export async function listOrSettle<Row>(
  what: Settleable<Row>,
  values: OptionValues,
  given: readonly string[],
  console: Console,
): Promise<ExitCode> {
  const [verb, id, ...rest] = given;
  const settlement = what.settlement(values);
  const listing = verb === 'list' && id === undefined;
  if (!listing && !(verb === 'settle' && isId(id ?? '') && rest.length === 0))
    throw new UsageError(`say list, or settle with the id of ${what.one}.`);
  if (listing !== (settlement === null)) throw new UsageError(`settle needs ${what.choices}; list takes ${what.none}.`);
  takesOnly(listing ? 'list' : 'settle', what.options[listing ? 'list' : 'settle'], values);
  const json = wantsJson(values, console.stdout);
  const admin = openGatewayAdmin(values);
  const writer = new RowWriter(console.stdout);
  const show = (row: Row) => writer.write(json ? `${JSON.stringify(row)}\n` : what.readable(row));
  if (settlement !== null) {
    await show((await admin.call('POST', what.settlePath, { id: Number(id), ...settlement })) as Row);
  } else {
    const settled = { settled: String(values.settled === true), ...what.narrowed?.(values) };
    for await (const row of rowsOf<Row>(admin, what.list.path, what.list.rows, values, settled)) await show(row);
  }
  await writer.flush();
  return 0;
}
