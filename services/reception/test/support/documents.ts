import { readFileSync } from 'node:fs';
import { type DocumentNode, groupOf } from '@ecf/domain';
import { checkJson, writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import { BUYER, PROVIDER, provider } from './senders.js';

const EXAMPLES = new URL('../../../../examples/', import.meta.url);

/** An e-CF's content, which tests may change. */
export interface EditableEcf {
  Encabezado: {
    Version: string;
    IdDoc: DocumentNode;
    Emisor: DocumentNode;
    Comprador?: DocumentNode;
    Totales: DocumentNode;
  };
}

export interface Sample {
  type?: string;
  encf?: string;
  issuer?: string;
  buyer?: string | null;
  total?: string;
  /** Changes the tree before it is written. */
  edit?: (ecf: EditableEcf) => void;
  certificate?: SigningCertificate;
  signedAt?: string;
}

/** The valid tree of an example e-CF between two parties. */
export function sampleTree(sample: Sample = {}): DocumentNode {
  const type = sample.type ?? '31';
  const example = JSON.parse(readFileSync(new URL(`ecf-${type}.json`, EXAMPLES), 'utf8'));
  const { tree } = checkJson(example);
  if (tree === null) throw new Error(`no example of type ${type}`);
  const ecf = groupOf(tree, 'ECF') as DocumentNode;
  const header = groupOf(ecf, 'Encabezado') as DocumentNode;
  (groupOf(header, 'IdDoc') as DocumentNode).eNCF = sample.encf ?? `E${type}0000000001`;
  (groupOf(header, 'Emisor') as DocumentNode).RNCEmisor = sample.issuer ?? PROVIDER;
  const buyer = groupOf(header, 'Comprador');
  if (buyer !== null && sample.buyer !== null) buyer.RNCComprador = sample.buyer ?? BUYER;
  if (sample.total !== undefined) (groupOf(header, 'Totales') as DocumentNode).MontoTotal = sample.total;
  ecf.FechaHoraFirma = sample.signedAt ?? '23-06-2026 11:58:00';
  sample.edit?.(ecf as unknown as EditableEcf);
  return tree;
}

/** An example e-CF as its issuer sends it. */
export async function sampleXml(sample: Sample = {}): Promise<string> {
  const { xml } = await signXml(writeXml(sampleTree(sample)), sample.certificate ?? provider.certificate);
  return xml;
}

export async function sampleBytes(sample: Sample = {}): Promise<Buffer> {
  return Buffer.from(await sampleXml(sample), 'utf8');
}

/** An eNCF by its number. */
export function encf(sequence: number, type = '31'): string {
  return `E${type}${String(sequence).padStart(10, '0')}`;
}
