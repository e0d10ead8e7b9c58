import { confirmationAddress, ENVIRONMENTS, groupOf, isEnvironment, textOf } from '@ecf/domain';
import type { Console, ExitCode } from '../../command.js';
import { onlyFile, readDocument } from '../../input/read-document.js';
import { type Options, type OptionValues, UsageError } from '../../options.js';
import { DocumentAtFault, readSigned } from '../../signed-document.js';

export const options: Options = { env: 'value', json: 'switch' };

export const help = `ecf qr [--env ENV] [--json] [FILE.xml|-]

Writes the confirmation address of a signed e-CF or summary, for its QR code.
The address has the host of the authority.

Options
  --env ENV  environment of the address: TesteCF (default), CerteCF or eCF. The
             default of ecf print is eCF; state --env where both are used
  --json     {file, encf, env, security_code, qr_url}

Exit codes
  0  the address was written
  1  the document has none
  2  wrong usage, or the file cannot be read

Examples
  ecf qr --env eCF 130000001E310000000001.xml
`;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const file = onlyFile(files);
  const { env = 'TesteCF' } = values;
  if (!isEnvironment(env)) throw new UsageError(`--env is one of ${ENVIRONMENTS.join(', ')}.`);
  const bytes = await readDocument(file, console);
  try {
    const { tree, securityCode: ownCode, doubt } = readSigned(bytes);
    if (doubt !== null) console.stderr.write(`warning: the signature does not verify. ${doubt}\n`);
    const header = groupOf(groupOf(tree, 'ECF') ?? groupOf(tree, 'RFCE'), 'Encabezado');
    // A summary carries the code of the full document; its own signature gives none.
    const security_code = tree.RFCE === undefined ? ownCode : textOf(header, 'CodigoSeguridadeCF');
    if (security_code === null) throw new DocumentAtFault('The summary has no CodigoSeguridadeCF.');
    const qr_url = confirmationAddress({ env, tree, securityCode: security_code });
    const encf = textOf(groupOf(header, 'IdDoc'), 'eNCF');
    console.stdout.write(
      values.json === true ? `${JSON.stringify({ file, encf, env, security_code, qr_url })}\n` : `${qr_url}\n`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof DocumentAtFault || error instanceof RangeError)) throw error;
    console.stderr.write(`ecf qr: ${file}: ${error.message}\n`);
    return 1;
  }
}
