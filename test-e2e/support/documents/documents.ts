import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deriveRfce } from '@ecf/domain';
import { examineJson, type WrittenXml, writeXml } from '@ecf/ecf-xml';
import { openCertificate, type SignedXml, securityCode, signXml } from '@ecf/xml-signing';

const EXAMPLES = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../examples');

// biome-ignore lint/suspicious/noExplicitAny: invoice JSON is edited freely
export type Invoice = any;

/** `E`, type and ten digits. */
export function encf(type: string, sequence: number): string {
  return `E${type}${String(sequence).padStart(10, '0')}`;
}

/** Invoices of one issuer, each under the next number of its type. */
export class Numbering {
  /** @param last the number before the first one */
  constructor(
    private readonly issuer: { rnc: string; name: string },
    private last = 100,
  ) {}

  /** An example document (`ecf-31`, `ecf-32`, ...) of this issuer under its own number; `edit` changes it in place. */
  next(example = 'ecf-31', edit?: (ecf: Invoice) => void): { invoice: Invoice; encf: string } {
    this.last += 1;
    const invoice = JSON.parse(fs.readFileSync(path.join(EXAMPLES, `${example}.json`), 'utf8'));
    const { IdDoc, Emisor } = invoice.ECF.Encabezado;
    IdDoc.eNCF = encf(IdDoc.TipoeCF, this.last);
    Object.assign(Emisor, { RNCEmisor: this.issuer.rnc, RazonSocialEmisor: this.issuer.name });
    edit?.(invoice.ECF);
    return { invoice, encf: IdDoc.eNCF };
  }
}

/** The invoice with one changed value that no rule checks. */
export function otherContent(invoice: Invoice): Invoice {
  const other = structuredClone(invoice);
  other.ECF.DetallesItems.Item[0].NombreItem += ' azul';
  return other;
}

/** Lines of one peso each, with matching totals. */
export function withLines(invoice: Invoice, lines: number): Invoice {
  const { ECF } = structuredClone(invoice);
  const total = `${lines}.00`;
  delete ECF.Encabezado.IdDoc.IndicadorMontoGravado;
  ECF.Encabezado.IdDoc.TablaFormasPago = { FormaDePago: [{ FormaPago: '1', MontoPago: total }] };
  ECF.Encabezado.Totales = { MontoExento: total, MontoTotal: total };
  ECF.DetallesItems.Item = Array.from({ length: lines }, (_, index) => ({
    NumeroLinea: String(index + 1),
    IndicadorFacturacion: '4',
    NombreItem: 'Libro',
    IndicadorBienoServicio: '1',
    CantidadItem: '1.00',
    UnidadMedida: '43',
    PrecioUnitarioItem: '1.0000',
    MontoItem: '1.00',
  }));
  return { ECF };
}

/** The document signed with a caller's certificate file, as for `/submit_ecf`. */
export async function signedByCaller(
  invoice: Invoice,
  file: { p12: Buffer; password: string },
  signatureTime = '20-06-2026 10:00:00',
  change: (written: WrittenXml) => WrittenXml = (written) => written,
): Promise<SignedXml> {
  const { tree } = examineJson({ ECF: { ...invoice.ECF, FechaHoraFirma: signatureTime } }, { now: new Date() });
  if (tree === null) throw new Error('the test document cannot be read');
  return signXml(change(writeXml(tree)), openCertificate(file.p12, file.password));
}

/** The document with blank text between its elements. */
export function indented({ canonical }: WrittenXml): WrittenXml {
  const text = canonical.replaceAll('><', '>\n  <');
  return { canonical: text, output: text };
}

/** The signed summary of a type 32, as for `/submit_fc`. */
export async function summaryByCaller(
  invoice: Invoice,
  file: { p12: Buffer; password: string },
): Promise<{ xml: string; securityCode: string }> {
  const code = securityCode((await signedByCaller(invoice, file)).signatureValue);
  const { tree } = examineJson(invoice, { now: new Date() });
  if (tree === null) throw new Error('the test document cannot be read');
  const { xml } = await signXml(writeXml(deriveRfce(tree, code)), openCertificate(file.p12, file.password));
  return { xml, securityCode: code };
}
