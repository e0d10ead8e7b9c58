import { type DocumentNode, groupOf, textOf } from '@ecf/domain';
import { parseXml, readXml } from '@ecf/ecf-xml';
import { securityCode, verifyXml } from '@ecf/xml-signing';
import type { Ledger } from './ledger.js';
import type { Submission } from './submission.js';

/** The facts of an e-CF or a summary that later calls need; texts as in the document. */
export interface DocumentFacts {
  readonly issuerName: string | null;
  readonly buyer: string | null;
  readonly foreignBuyer: string | null;
  readonly buyerName: string | null;
  readonly issueDate: string | null;
  readonly signedAt: string | null;
  readonly total: string;
  readonly itbis: string;
  /** The security code of the e-CF's own signature, or the one stated in its summary. */
  readonly securityCode: string;
}

/** Facts of a document's tree; `signatureValue` is that of the document itself. */
export function factsOf(tree: DocumentNode, signatureValue: string): DocumentFacts {
  const root = groupOf(tree, 'ECF') ?? groupOf(tree, 'RFCE') ?? {};
  const header = groupOf(root, 'Encabezado') ?? {};
  const issuer = groupOf(header, 'Emisor');
  const buyer = groupOf(header, 'Comprador');
  const totals = groupOf(header, 'Totales');
  return {
    issuerName: textOf(issuer, 'RazonSocialEmisor'),
    buyer: textOf(buyer, 'RNCComprador'),
    foreignBuyer: textOf(buyer, 'IdentificadorExtranjero'),
    buyerName: textOf(buyer, 'RazonSocialComprador'),
    issueDate: textOf(issuer, 'FechaEmision'),
    signedAt: textOf(root, 'FechaHoraFirma'),
    total: textOf(totals, 'MontoTotal') ?? '0',
    itbis: textOf(totals, 'TotalITBIS') ?? '0',
    securityCode: textOf(header, 'CodigoSeguridadeCF') ?? securityCode(signatureValue),
  };
}

/** Reads the facts of documents that arrived before from their bytes; the latest few are kept. */
export class DocumentReader {
  static readonly #KEPT = 256;
  readonly #ledger: Pick<Ledger, 'bytesOf'>;
  readonly #recent = new Map<number, DocumentFacts>();

  constructor(ledger: Pick<Ledger, 'bytesOf'>) {
    this.#ledger = ledger;
  }

  of(submission: Submission): DocumentFacts {
    const known = this.#recent.get(submission.id);
    if (known) return known;
    const xml = parseXml(this.#ledger.bytesOf(submission));
    const facts = factsOf(readXml(xml), verifyXml(xml).signatureValue ?? '');
    if (this.#recent.size >= DocumentReader.#KEPT) {
      const [oldest] = this.#recent.keys();
      if (oldest !== undefined) this.#recent.delete(oldest);
    }
    this.#recent.set(submission.id, facts);
    return facts;
  }

  clear(): void {
    this.#recent.clear();
  }
}
