import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatSignatureDateTime } from '@ecf/domain';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { openCertificate, signXml } from '@ecf/xml-signing';
import { testCertificate } from '../client.js';
import type { Invoice } from './documents.js';

const EXAMPLES = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../examples');

/** A provider that is not a taxpayer of the deployment, and its certificate. */
export const PROVIDER = '130000999';
const file = testCertificate(PROVIDER);
export const providerCertificate = openCertificate(file.p12, file.password);

/** An example document signed by the provider; `edit` changes its JSON before. */
export async function providedXml(example: string, edit: (document: Invoice) => void): Promise<string> {
  const document = JSON.parse(fs.readFileSync(path.join(EXAMPLES, `${example}.json`), 'utf8'));
  edit(document);
  const { tree, faults } = checkJson(document);
  if (tree === null) throw new Error(JSON.stringify(faults));
  return (await signXml(writeXml(tree), providerCertificate)).xml;
}

/** An e-CF of type 31 from the provider to a buyer. */
export function providedInvoice(encf: string, buyer: string): Promise<string> {
  return providedXml('ecf-31', ({ ECF }) => {
    ECF.Encabezado.IdDoc.eNCF = encf;
    ECF.Encabezado.Emisor.RNCEmisor = PROVIDER;
    ECF.Encabezado.Comprador.RNCComprador = buyer;
    ECF.FechaHoraFirma = formatSignatureDateTime(new Date(Date.now() - 60_000));
  });
}

/** A seed signed by the provider. */
export async function signedSeed(seed: string): Promise<string> {
  const canonical = seed.replace(/^<\?xml[^>]*\?>/, '');
  return (await signXml({ canonical, output: canonical }, providerCertificate)).xml;
}
