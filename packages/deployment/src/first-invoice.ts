import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DocumentNode } from '@ecf/domain';
import type { DataFolder } from './data-folder.js';
import { DEMO_BUYER, DEMO_ISSUER } from './sandbox.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/ecf-31.json', import.meta.url));
const FIRST = 'E310000000001';
const NEXT = 'E310000000002';

/** Example invoice of the demo issuer under the given number, dated today. */
function exampleInvoice(encf: string, today: string): DocumentNode {
  const document = JSON.parse(fs.readFileSync(EXAMPLE, 'utf8'));
  const { Encabezado } = document.ECF;
  Encabezado.IdDoc.eNCF = encf;
  Object.assign(Encabezado.Emisor, {
    RNCEmisor: DEMO_ISSUER.rnc,
    RazonSocialEmisor: DEMO_ISSUER.name,
    FechaEmision: today,
  });
  Object.assign(Encabezado.Comprador, { RNCComprador: DEMO_BUYER.rnc, RazonSocialComprador: DEMO_BUYER.name });
  return document;
}

/** Writes the reader's own invoice beside the data and submits the very first one; resolves with lines to print. */
export async function submitFirstInvoice(
  baseUrl: string,
  apiKey: string,
  folder: DataFolder,
  today: string,
): Promise<string[]> {
  folder.writePrivate('my-invoice.json', exampleInvoice(NEXT, today));
  const form = new FormData();
  form.set('data', JSON.stringify(exampleInvoice(FIRST, today)));
  const answer = await fetch(`${baseUrl}/fe_Submit`, { method: 'POST', headers: { 'x-api-key': apiKey }, body: form });
  const body = (await answer.json()) as { status?: string; qr_url?: string };
  if (!answer.ok) throw new Error(`The example invoice was refused (${answer.status}): ${JSON.stringify(body)}`);
  return [`first invoice   ${FIRST}   ${body.status}`, `confirmation    ${body.qr_url}`];
}

/** The command a reader can paste: submits the invoice that lies in the data folder. */
export function exampleCommand(baseUrl: string, apiKey: string, folder: DataFolder): string {
  return `curl -s ${baseUrl}/fe_Submit -H 'x-api-key: ${apiKey}' -F 'data=<${folder.file('my-invoice.json')}'`;
}
