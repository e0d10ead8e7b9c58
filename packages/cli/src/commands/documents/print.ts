import { readFile, writeFile } from 'node:fs/promises';
import { ENVIRONMENTS, isEnvironment } from '@ecf/domain';
import type { Console, ExitCode } from '../../command.js';
import { onlyFile, readDocument } from '../../input/read-document.js';
import { type Options, type OptionValues, UsageError } from '../../options.js';

type Renderer = typeof import('@ecf/printed-form');

export const options: Options = { env: 'value', format: 'value', logo: 'value', o: 'value' };

export const help = `ecf print [--format FORMAT] [--env ENV] [--logo FILE] -o FILE.pdf [FILE.xml|-]

Writes the printed form of a signed e-CF as PDF/A-3 with the XML attached. The
renderer is the package @ecf-gateway/printed-form, which is installed apart
because of its size.

Options
  --format FORMAT  letter (default) or ticket, 80 mm wide
  --env ENV        environment of the address in the QR code: eCF (default),
                   CerteCF or TesteCF. The default of ecf qr is TesteCF
  --logo FILE      logo of the issuer, a PNG or JPEG of at most 1 MiB
  -o FILE.pdf      the file to write

Exit codes
  0  the PDF was written
  1  the document is not a signed e-CF, or it cannot be rendered
  2  wrong usage, a file cannot be read, the logo is not a picture that can be
     printed, or the renderer is not installed

Examples
  ecf print 130000001E310000000001.xml -o factura.pdf
  ecf print --format ticket 130000001E320000000001.xml -o ticket.pdf
`;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const file = onlyFile(files);
  const { env = 'eCF', format = 'letter', o: target } = values;
  if (!isEnvironment(env)) throw new UsageError(`--env is one of ${ENVIRONMENTS.join(', ')}.`);
  if (format !== 'letter' && format !== 'ticket') throw new UsageError('--format is letter or ticket.');
  if (typeof target !== 'string') throw new UsageError('-o names the PDF file to write.');
  const renderer = await loadPrintedForm();
  const { createPrinter, PrintError } = renderer;
  const logo = typeof values.logo === 'string' ? await logoOf(values.logo, renderer) : null;
  const xml = await readDocument(file, console);
  const printer = createPrinter();
  try {
    const pdf = await printer.print({ xml, env, format, logo });
    await writeFile(target, pdf).catch((cause: Error) => {
      throw new UsageError(`${target} cannot be written (${cause.message}).`, { cause });
    });
    return 0;
  } catch (error) {
    if (!(error instanceof PrintError)) throw error;
    console.stderr.write(`ecf print: ${file}: ${error.message}\n`);
    return 1;
  } finally {
    printer.close();
  }
}

async function logoOf(path: string, { readLogo, LogoError }: Renderer): Promise<ReturnType<Renderer['readLogo']>> {
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new UsageError(`--logo ${path} cannot be read (${cause.message}).`, { cause });
  });
  try {
    return readLogo(bytes);
  } catch (cause) {
    if (cause instanceof LogoError) throw new UsageError(`--logo ${path}: ${cause.message}`, { cause });
    throw cause;
  }
}

/** The published command has it as an optional peer, because its renderer is larger than everything else together. */
async function loadPrintedForm(): Promise<Renderer> {
  try {
    return await import('@ecf/printed-form');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(
      'the printed form is not installed. Run `npm install @ecf-gateway/printed-form` where this command is installed (with -g if it is global), or `npx -p @ecf-gateway/cli -p @ecf-gateway/printed-form ecf print ...`.',
      { cause: error },
    );
  }
}
