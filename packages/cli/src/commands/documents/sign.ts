import { readFile } from 'node:fs/promises';
import { groupOf, signingTimeWarnings, textOf, withSigningTime } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { CertificateError, openCertificate, type SigningCertificate, securityCode, signXml } from '@ecf/xml-signing';
import type { Console, ExitCode } from '../../command.js';
import { onlyFile, readDocument, unreadable } from '../../input/read-document.js';
import { type Options, type OptionValues, UsageError } from '../../options.js';
import { complaints } from '../../output.js';
import { prepare } from '../../prepare.js';

export const options: Options = {
  certificate: 'value',
  'password-file': 'value',
  'schema-only': 'switch',
  json: 'switch',
};

export const help = `ecf sign --certificate FILE.p12 --password-file F [options] [FILE|-]

Writes the signed XML of a document in JSON or unsigned XML.

Options
  --certificate FILE.p12  the certificate with its private key (.p12 or .pfx)
  --password-file F       a file with its password, so that no command line or
                          history contains it
  FILE                    the document; none or - means standard input
  --schema-only           skip the business rules
  --json                  {file, document, type, encf, valid, faults, warnings,
                          security_code, xml}

The command checks the document first. If it has faults, they go to standard
error, and no document is written. A missing FechaHoraFirma becomes the present
time. XML is rewritten in compact form before it is signed. CR becomes LF and a
value of blanks only is left out, both with a warning.

Exit codes
  0  the signed XML was written
  1  the document has faults
  2  wrong usage, or the file or the certificate cannot be opened

Examples
  ecf sign --certificate holder.p12 --password-file password.txt \\
    invoice.json > 130000001E310000000001.xml
`;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const file = onlyFile(files);
  const now = new Date();
  const certificate = await certificateOf(values, now);
  const bytes = await readDocument(file, console);
  const { tree, verdict } = prepare(bytes, { now, schemaOnly: values['schema-only'] === true });
  const signed = tree === null ? null : await signXml(writeXml(withSigningTime(tree, now)), certificate);
  const stated = textOf(groupOf(tree, 'ECF'), 'FechaHoraFirma');
  const warnings = [...verdict.warnings, ...signingTimeWarnings(stated, certificate.notBefore, certificate.notAfter)];
  if (values.json === true) {
    const { document, type, encf, valid, faults } = verdict;
    const security_code = signed === null ? null : securityCode(signed.signatureValue);
    const row = { file, document, type, encf, valid, faults, warnings, security_code, xml: signed?.xml ?? null };
    console.stdout.write(`${JSON.stringify(row)}\n`);
  } else {
    console.stderr.write(complaints(file, { ...verdict, warnings }));
    // No line end: no byte may follow the signed document.
    if (signed !== null) console.stdout.write(signed.xml);
  }
  return signed === null ? 1 : 0;
}

async function certificateOf(values: OptionValues, now: Date): Promise<SigningCertificate> {
  const { certificate: file, 'password-file': passwordFile } = values;
  if (typeof file !== 'string') throw new UsageError('--certificate FILE.p12 is missing.');
  if (typeof passwordFile !== 'string') throw new UsageError('--password-file F is missing.');
  const password = (await read(passwordFile))
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/\r?\n$/, '');
  try {
    return openCertificate(await read(file), password, now);
  } catch (error) {
    if (error instanceof CertificateError) throw new UsageError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}
