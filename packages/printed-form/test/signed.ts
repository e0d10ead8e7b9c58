import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { checkJson, parseJson, writeXml } from '@ecf/ecf-xml';
import { signXml } from '@ecf/xml-signing';
import { signingCertificate } from '../../xml-signing/src/certificates/signing-certificate.js';

const EXAMPLES = new URL('../../../examples/', import.meta.url);
const pem = (name: string) => readFileSync(new URL(`golden/${name}.pem`, EXAMPLES));
const signer = signingCertificate(createPrivateKey(pem('signer-key')), new X509Certificate(pem('signer')), []);

/** The signed e-CF of examples/golden, by name (`ecf-31`). */
export const goldens = new Map(
  readdirSync(new URL('golden/', EXAMPLES))
    .filter((file) => /^ecf-.*\.xml$/.test(file))
    .map((file) => [file.slice(0, -'.xml'.length), readFileSync(new URL(`golden/${file}`, EXAMPLES))]),
);

// biome-ignore lint/suspicious/noExplicitAny: tests change any field of an example
export type Example = { ECF: any };

export function example(name: string): Example {
  return JSON.parse(readFileSync(new URL(`${name}.json`, EXAMPLES), 'utf8'));
}

/** Signs an e-CF in JSON; business rules are not checked. */
export async function signed(document: Example): Promise<Uint8Array> {
  const { tree } = checkJson(parseJson(Buffer.from(JSON.stringify(document))));
  if (tree === null) throw new Error('The document has no known root.');
  (tree.ECF as Record<string, string>).FechaHoraFirma = '20-06-2026 10:00:00';
  return Buffer.from((await signXml(writeXml(tree), signer)).xml);
}

/** The lines of an example, repeated until there are `count`. */
export function withLines(document: Example, count: number): Example {
  const items = document.ECF.DetallesItems.Item;
  const lines = Array.from({ length: count }, (_, index) => ({
    ...items[index % items.length],
    NumeroLinea: String(index + 1),
  }));
  return { ECF: { ...document.ECF, DetallesItems: { Item: lines } } };
}
