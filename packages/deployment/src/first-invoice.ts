import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DocumentNode, formatDocumentDate, toCalendarDate } from '@ecf/domain';
import type { DataFolder } from './data-folder.js';
import { DEMO_BUYER, DEMO_ISSUER } from './sandbox.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/ecf-31.json', import.meta.url));
const FIRST = 'E310000000001';
const NEXT = 'E310000000002';
const OWN = 'my-invoice.json';
const WITH_FAULT = 'my-mistake.json';

/** Example invoice of the demo issuer to a buyer under the given number, dated today. */
function exampleInvoice(encf: string, today: string, buyerRnc: string = DEMO_BUYER.rnc): DocumentNode {
  const document = JSON.parse(fs.readFileSync(EXAMPLE, 'utf8'));
  const { Encabezado } = document.ECF;
  Encabezado.IdDoc.eNCF = encf;
  Object.assign(Encabezado.Emisor, {
    RNCEmisor: DEMO_ISSUER.rnc,
    RazonSocialEmisor: DEMO_ISSUER.name,
    FechaEmision: today,
  });
  Object.assign(Encabezado.Comprador, { RNCComprador: buyerRnc, RazonSocialComprador: DEMO_BUYER.name });
  return document;
}

/** Submits the very first invoice; resolves with lines to print. */
export async function submitFirstInvoice(baseUrl: string, apiKey: string, today: string): Promise<string[]> {
  const form = new FormData();
  form.set('data', JSON.stringify(exampleInvoice(FIRST, today)));
  const answer = await fetch(`${baseUrl}/fe_Submit`, { method: 'POST', headers: { 'x-api-key': apiKey }, body: form });
  const body = (await answer.json()) as { status?: string; qr_url?: string };
  if (!answer.ok) throw new Error(`The example invoice was refused (${answer.status}): ${JSON.stringify(body)}`);
  return [`first invoice   ${FIRST}   ${body.status}`, `confirmation    ${body.qr_url}`];
}

/**
 * Writes the reader's own invoice, unless it is there, and one with a fault, into the data folder. Returns lines with the
 * commands that submit them.
 */
export function writeExamples(baseUrl: string, apiKey: string, folder: DataFolder, now: Date): string[] {
  const today = formatDocumentDate(toCalendarDate(now));
  if (!fs.existsSync(folder.file(OWN))) folder.writePrivate(OWN, exampleInvoice(NEXT, today));
  folder.writePrivate(WITH_FAULT, faultyInvoice(now, today));
  const command = (name: string) =>
    `curl -s ${baseUrl}/fe_Submit -H 'x-api-key: ${apiKey}' -F 'data=<${folder.file(name)}'`;
  return [`your turn       ${command(OWN)}`, `see a fault     ${command(WITH_FAULT)}`];
}

/** The buyer's RNC lacks a digit. The number is the second of the start, so that no earlier start used it. */
function faultyInvoice(now: Date, today: string): DocumentNode {
  const sequence = String(Math.floor(now.getTime() / 1_000)).padStart(10, '0');
  return exampleInvoice(`E31${sequence}`, today, DEMO_BUYER.rnc.slice(0, -1));
}
