import { deriveRfce, groupOf, integerOf, submissionRoute, textOf } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import type { Console, ExitCode } from '../../command.js';
import { onlyFile, readDocument } from '../../input/read-document.js';
import type { Options, OptionValues } from '../../options.js';
import { DocumentAtFault, readSigned, type SignedDocument } from '../../signed-document.js';

export const options: Options = { json: 'switch' };

export const help = `ecf rfce [--json] [FILE.xml|-]

Writes the unsigned consumer summary (RFCE) of a signed e-CF of type 32 under
RD$250,000. It contains the security code of the full document. Sign it with
\`ecf sign\`.

Options
  --json  {file, encf, security_code, xml}

Exit codes
  0  the summary was written
  1  the document has none
  2  wrong usage, or the file cannot be read

Examples
  ecf rfce signed.xml |
    ecf sign --certificate holder.p12 --password-file password.txt > summary.xml
`;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const file = onlyFile(files);
  const bytes = await readDocument(file, console);
  try {
    const document = readSigned(bytes);
    const encf = summarised(document);
    if (document.doubt !== null) console.stderr.write(`warning: the signature does not verify. ${document.doubt}\n`);
    const xml = writeXml(deriveRfce(document.tree, document.securityCode)).output;
    const row = { file, encf, security_code: document.securityCode, xml };
    console.stdout.write(`${values.json === true ? JSON.stringify(row) : xml}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof DocumentAtFault || error instanceof RangeError)) throw error;
    console.stderr.write(`ecf rfce: ${file}: ${error.message}\n`);
    return 1;
  }
}

/** The number of a document that has a summary. */
function summarised({ tree }: SignedDocument): string | null {
  const header = groupOf(groupOf(tree, 'ECF'), 'Encabezado');
  const type = integerOf(groupOf(header, 'IdDoc'), 'TipoeCF');
  const total = textOf(groupOf(header, 'Totales'), 'MontoTotal');
  if (type !== '32' || total === null) throw new DocumentAtFault('Only an e-CF of type 32 has a summary.');
  if (submissionRoute('32', total) !== 'rfce') {
    throw new DocumentAtFault(`MontoTotal is ${total}: from 250,000.00 on the document itself is sent, not a summary.`);
  }
  return textOf(groupOf(header, 'IdDoc'), 'eNCF');
}
