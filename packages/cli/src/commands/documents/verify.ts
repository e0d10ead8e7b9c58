import type { Fault } from '@ecf/domain';
import { type CanonicalXml, checkXml, parseXml, XmlRefused } from '@ecf/ecf-xml';
import { type CertificateFacts, signatureWarnings, type Verification, verifyXml } from '@ecf/xml-signing';
import { unreadableDocument } from '../../check/examine.js';
import type { Console, ExitCode } from '../../command.js';
import { readDocument } from '../../input/read-document.js';
import { type Options, type OptionValues, UsageError } from '../../options.js';
import { documentName, faultLines, printable, RowWriter, wantsJson } from '../../output.js';

export const options: Options = { json: 'switch', text: 'switch' };

export const help = `ecf verify [options] FILE...

Verifies the signature of each document by the authority's profile, as received
and then once more without blank text, and checks the document against its
schema.

Options
  FILE    a signed XML document; - means standard input
  --json  one JSON object per line: {file, document, type, encf, signature,
          reason, canonical, certificate, schema_valid, faults, warnings}
  --text  for people; the default on a terminal, --json elsewhere

\`signature\` covers the cryptography and the profile only. \`certificate\` says
whether the certificate was valid when the document was signed; its issuer is
not checked.

Exit codes
  0  every signature is valid, and every document fits its schema
  1  a signature is invalid, or a document violates its schema
  2  wrong usage, or a file cannot be read

Examples
  ecf verify received/*.xml
`;

interface Row {
  readonly file: string;
  readonly document: string | null;
  readonly type: string | null;
  readonly encf: string | null;
  readonly signature: Verification['signature'];
  readonly reason: string | null;
  readonly canonical: Verification['canonical'];
  readonly certificate: Omit<CertificateFacts, 'holderId' | 'der' | 'others'> | null;
  readonly schema_valid: boolean;
  readonly faults: readonly Fault[];
  /** Why other software may refuse a valid signature. */
  readonly warnings: readonly Fault[];
}

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const json = wantsJson(values, console.stdout);
  const writer = new RowWriter(console.stdout);
  let code: ExitCode = 0;
  for (const file of files.length === 0 ? ['-'] : files) {
    try {
      const row = verifyDocument(file, await readDocument(file, console));
      if (code === 0 && (row.signature === 'invalid' || !row.schema_valid)) code = 1;
      await writer.write(json ? `${JSON.stringify(row)}\n` : readable(row));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      console.stderr.write(`ecf verify: ${error.message}\n`);
      code = 2;
    }
  }
  await writer.flush();
  return code;
}

function verifyDocument(file: string, bytes: Uint8Array): Row {
  let xml: CanonicalXml;
  try {
    xml = parseXml(bytes);
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error;
    const { faults } = unreadableDocument(error.message, 'XML 1.0');
    const nothing = { document: null, type: null, encf: null, canonical: null, certificate: null };
    return {
      file,
      ...nothing,
      signature: 'invalid',
      reason: `xml_refused: ${error.message}`,
      schema_valid: false,
      faults,
      warnings: [],
    };
  }
  const { document, type, encf, faults } = checkXml(xml);
  const verification = verifyXml(xml);
  const { signature, reason, canonical, certificate } = verification;
  return {
    file,
    document,
    type,
    encf,
    signature,
    reason: reason === null ? null : `${reason.code}: ${reason.message}`,
    canonical,
    certificate: certificate === null ? null : certificateRow(certificate),
    schema_valid: faults.length === 0,
    faults,
    warnings: signatureWarnings(verification, xml.rootName),
  };
}

function certificateRow({
  holderId: _holder,
  der: _der,
  others: _others,
  ...facts
}: CertificateFacts): Row['certificate'] {
  return facts;
}

function readable(row: Row): string {
  const { file, document, type, encf, signature, reason, canonical, certificate, faults, warnings } = row;
  const lines = [
    `${signature === 'valid' ? 'valid  ' : 'INVALID'} ${documentName(document, type, encf)}  ${printable(file)}\n`,
  ];
  if (reason !== null) lines.push(`    ${printable(reason)}\n`);
  if (canonical === 'whitespace-dropped')
    lines.push('    verified without its blank text: it was indented after signing\n');
  if (certificate !== null) {
    lines.push(`    signed by ${printable(certificate.subject)}\n`);
    lines.push(
      `    issued by ${printable(certificate.issuer)}, valid ${certificate.not_before} to ${certificate.not_after}\n`,
    );
    if (!certificate.valid_at_signing) lines.push('    the certificate was NOT valid when the document was signed\n');
  }
  return lines.join('') + faultLines([...faults, ...warnings]);
}
