import { Decimal, type DocumentNode, groupOf, isEncf, isRnc, parseDocumentDate, textOf } from '@ecf/domain';
import { isDecided, type Submission } from '../ledger/submission.js';
import { mayActFor } from '../ledger/taxpayer-register.js';
import type { Simulation } from '../simulation.js';
import { type Arrival, isFileName, isNamedAfter } from './decision.js';
import { schemaMessage } from './schema-messages.js';
import { readSigned, type SignedDocument, signerOf } from './signed-document.js';
import { TEXTS } from './texts.js';
import { isAccepted } from './verdict.js';

export interface ApprovalDecision {
  /** The reason of a refusal; null if accepted. */
  readonly refusal: string | null;
  readonly rnc: string | null;
  readonly buyer: string | null;
  readonly encf: string | null;
}

const STRUCTURE =
  'La estructura del archivo XML no es válido, favor proveer un XML con una estructura válida, verificar el XSD correspondiente';

/** Types that no buyer approves. Source: technical description pp.44-46. */
const NOT_APPROVABLE = new Set(['32', '41', '43', '46', '47']);

type Services = Pick<Simulation, 'ledger' | 'taxpayers' | 'facts' | 'certification' | 'signatures'>;

/** Decides on a commercial approval. Texts: technical description pp.28-29. */
export function decideApproval(services: Services, arrival: Arrival): ApprovalDecision {
  const document = readSigned(arrival.bytes, arrival.now);
  const fields = groupOf(groupOf(document?.tree ?? null, 'ACECF'), 'DetalleAprobacionComercial');
  const identity = {
    rnc: checked(textOf(fields, 'RNCEmisor'), isRnc),
    buyer: checked(textOf(fields, 'RNCComprador'), isRnc),
    encf: checked(textOf(fields, 'eNCF'), isEncf),
  };
  const refusal = formRefusal(arrival, document) ?? contentRefusal(services, arrival, fields ?? {}, identity, document);
  return { refusal, ...identity };
}

function checked(text: string | null, test: (text: string) => boolean): string | null {
  return text !== null && test(text) ? text : null;
}

function formRefusal({ filename, bytes }: Arrival, document: SignedDocument | null): string | null {
  if (bytes.length === 0) return 'Archivo no válido';
  if (!/\.xml$/i.test(filename)) return 'Tipo de archivo no válido, favor proveer un XML';
  if (!isFileName(filename)) return TEXTS.fileName.text;
  if (!document || document.refusedBeyondSchema || document.checked.document !== 'ACECF') return STRUCTURE;
  if (document.checked.faults.length > 0) {
    return `${STRUCTURE}. ${schemaMessage(document.checked.faults, document.tree).text}`;
  }
  return null;
}

function contentRefusal(
  services: Services,
  { env, filename, now }: Arrival,
  fields: DocumentNode,
  { rnc, buyer, encf }: Pick<ApprovalDecision, 'rnc' | 'buyer' | 'encf'>,
  document: SignedDocument | null,
): string | null {
  if (rnc === null || buyer === null || encf === null || document === null) return STRUCTURE;
  if (!isNamedAfter(filename, [buyer, rnc], encf)) return TEXTS.fileName.text;
  const signer = signerOf(document, services.signatures);
  if (!signer) return 'La firma del XML no es válida';
  if (!mayActFor(services.taxpayers, signer.holder, buyer)) {
    return `El RNC del certificado no está delegado para realizar transacciones para el RNC: ${buyer}`;
  }
  if (!services.certification.takesApprovals(env, buyer)) {
    return `El contribuyente de rnc ${buyer} no se encuentra en la etapa de prueba de datos de aprobación comercial`;
  }
  if (services.certification.statesApprovals(env, buyer)) {
    return services.certification.check(env, buyer, document.tree)[0]?.text ?? repeated(services, env, rnc, encf);
  }
  if (NOT_APPROVABLE.has(encf.slice(1, 3))) return 'Aprobación Comercial no es requerida para este tipo de e-CF';
  if (services.ledger.numbers.of(env, rnc, encf).length === 0) {
    return 'Factura no encontrada para esta Aprobación comercial.';
  }
  const original = services.ledger.numbers.holder(env, rnc, encf);
  if (original?.reference && NOT_APPROVABLE.has(original.reference.encf.slice(1, 3))) {
    return 'Aprobación Comercial no es requerida para el e-CF Referenciado';
  }
  if (!original || !isApprovable(original, now) || !speaksOf(services, fields, original, buyer)) {
    return 'No se encuentra un e-CF válido para esta aprobación comercial';
  }
  return repeated(services, env, rnc, encf);
}

function repeated({ ledger }: Services, env: Arrival['env'], rnc: string, encf: string): string | null {
  if (ledger.approvalOf(env, rnc, encf) === null) return null;
  return `La aprobación comercial del e-CF ${encf} ya habia sido cargada y aceptada previamente`;
}

function isApprovable(original: Submission, now: Date): boolean {
  return isDecided(original, now.getTime()) && isAccepted(original.verdict);
}

/** Buyer, date and amount must be those of the e-CF. */
function speaksOf({ facts }: Services, fields: DocumentNode, original: Submission, buyer: string): boolean {
  const of = facts.of(original);
  const amount = Decimal.parse(textOf(fields, 'MontoTotal') ?? '');
  const total = Decimal.parse(of.total);
  return (
    of.buyer === buyer &&
    parseDocumentDate(textOf(fields, 'FechaEmision') ?? '') === parseDocumentDate(of.issueDate ?? '') &&
    amount !== null &&
    total !== null &&
    amount.equals(total)
  );
}
