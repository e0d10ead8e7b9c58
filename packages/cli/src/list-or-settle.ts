import type { Console, ExitCode } from './command.js';
import { openGatewayAdmin, rowsOf } from './gateway-admin.js';
import { type OptionValues, takesOnly } from './options.js';
import { wantsJson } from './output/format.js';
import { RowWriter } from './output/row-writer.js';
import { UsageError } from './usage-error.js';

/** Something that waits for a person's word: how it is called, where it is listed and settled, and how it reads. */
export interface Settleable<Row> {
  /** With its article, as in "the id of an approval". */
  readonly one: string;
  /** What a settlement is said with, as in "--accepted or --rejected". */
  readonly choices: string;
  /** What a list refuses of these, as in "neither". */
  readonly none: string;
  /** Path under the gateway's administration, and the key of a page's rows. */
  readonly list: { readonly path: string; readonly rows: string };
  readonly settlePath: string;
  /** The options of a list, and of a settlement. */
  readonly options: { readonly list: readonly string[]; readonly settle: readonly string[] };
  /** What narrows a list besides `--settled`. */
  narrowed?(values: OptionValues): Record<string, string>;
  /** The person's word; null where the options hold none. Throws UsageError for half of one. */
  settlement(values: OptionValues): object | null;
  /** One row, for people. */
  readable(row: Row): string;
}

/** Whether a word is an id of ours. */
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
  const admin = openGatewayAdmin(values['data-dir'] as string | undefined, process.env);
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
