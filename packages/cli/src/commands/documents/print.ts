import { writeFile } from 'node:fs/promises';
import { ENVIRONMENTS, isEnvironment } from '@ecf/domain';
import { createPrinter, PrintError } from '@ecf/printed-form';
import type { Console, ExitCode } from '../../command.js';
import { onlyFile, readDocument } from '../../input/read-document.js';
import { type Options, type OptionValues, UsageError } from '../../options.js';

export const options: Options = { env: 'value', format: 'value', o: 'value' };

export const help = `ecf print [--format FORMAT] [--env ENV] -o FILE.pdf [FILE.xml|-]

Writes the printed form of a signed e-CF as PDF/A-3 with the XML attached.

  --format FORMAT  letter (default) or ticket, 80 mm wide
  --env ENV        environment of the address in the QR code: eCF (default), CerteCF or TesteCF
  -o FILE.pdf      the file to write

  ecf print 130000001E310000000001.xml -o factura.pdf
`;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const file = onlyFile(files);
  const { env = 'eCF', format = 'letter', o: target } = values;
  if (!isEnvironment(env)) throw new UsageError(`--env is one of ${ENVIRONMENTS.join(', ')}.`);
  if (format !== 'letter' && format !== 'ticket') throw new UsageError('--format is letter or ticket.');
  if (typeof target !== 'string') throw new UsageError('-o names the PDF file to write.');
  const xml = await readDocument(file, console);
  const printer = createPrinter();
  try {
    await writeFile(target, await printer.print({ xml, env, format }));
    return 0;
  } catch (error) {
    if (!(error instanceof PrintError)) throw error;
    console.stderr.write(`ecf print: ${file}: ${error.message}\n`);
    return 1;
  } finally {
    printer.close();
  }
}
