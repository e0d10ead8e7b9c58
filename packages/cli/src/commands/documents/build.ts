import { writeXml } from '@ecf/ecf-xml';
import type { Console, ExitCode } from '../../command.js';
import { onlyFile, readDocument } from '../../input/read-document.js';
import type { Options, OptionValues } from '../../options.js';
import { complaints } from '../../output.js';
import { prepare } from '../../prepare.js';

export const options: Options = { 'schema-only': 'switch', json: 'switch' };

export const help = `ecf build [options] [FILE|-]

Writes the unsigned XML of a document in JSON: compact, in the authority's
order. Values do not change, except that CR becomes LF and a value of blanks
only is left out, both with a warning.

Options
  FILE           {"ECF": {...}}, or RFCE, ACECF, ANECF, ARECF; none or - means
                 standard input
  --schema-only  skip the business rules
  --json         {file, document, type, encf, valid, faults, warnings, xml}

The command checks the document first. If it has faults, they go to standard
error, and no document is written. A missing FechaHoraFirma stays missing;
\`ecf sign\` adds it.

Exit codes
  0  the XML was written
  1  the document has faults
  2  wrong usage, or the file cannot be read

Examples
  ecf build invoice.json > invoice.xml
`;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const file = onlyFile(files);
  const bytes = await readDocument(file, console);
  const { tree, verdict } = prepare(bytes, { now: new Date(), schemaOnly: values['schema-only'] === true });
  const xml = tree === null ? null : writeXml(tree).output;
  if (values.json === true) {
    const { document, type, encf, valid, faults, warnings } = verdict;
    console.stdout.write(`${JSON.stringify({ file, document, type, encf, valid, faults, warnings, xml })}\n`);
  } else {
    console.stderr.write(complaints(file, verdict));
    if (xml !== null) console.stdout.write(`${xml}\n`);
  }
  return xml === null ? 1 : 0;
}
