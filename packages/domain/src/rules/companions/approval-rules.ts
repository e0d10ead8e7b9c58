import { type DocumentNode, groupOf, integerOf, textOf } from '../../document/document-tree.js';
import { encfType, isRnc } from '../../identifiers.js';
import type { SubmissionRoute } from '../../submission-route.js';
import type { DocumentRule } from '../rule.js';
import { listed } from '../sources.js';

const APPROVAL = 'ACECF.DetalleAprobacionComercial';
const RECEIPT = 'ARECF.DetalleAcusedeRecibo';
const APPROVAL_FORMAT = 'Formato Aprobación Comercial v1.0 pp.4-5';
const RECEIPT_FORMAT = 'Formato Acuse de Recibo v1.0 p.5';

/** Types whose e-CF can be approved commercially. Source: Descripción Técnica v1.6 pp.42-46. */
export const APPROVABLE_TYPES = ['31', '33', '34', '44', '45'] as const;

/** The data that {@link goesToBuyer} needs. */
interface DeliverableDocument {
  readonly ecfType: string;
  readonly route: SubmissionRoute;
  readonly buyerRnc: string | null;
}

/**
 * Whether an accepted document goes to its buyer's receiver. It must be of a type that can be approved, and name a buyer
 * that can have a receiver. Type 45 is such a type, and is delivered on request only. Source: Descripción Técnica v1.6
 * pp.11, 42-46.
 */
export function goesToBuyer({ ecfType, route, buyerRnc }: DeliverableDocument): boolean {
  const deliverable = route === 'ecf' && (APPROVABLE_TYPES as readonly string[]).includes(ecfType);
  return deliverable && buyerRnc !== null && isRnc(buyerRnc);
}

/** Rules of commercial approvals (ACECF) that need the document alone; the view is the root element. */
export const APPROVAL_RULES: readonly DocumentRule<DocumentNode | null>[] = [
  {
    name: 'business.approval-reason-required',
    code: null,
    appliesTo: ['ACECF'],
    verdict: 'warns',
    source: APPROVAL_FORMAT,
    since: '2023-06',
    summary: 'A commercial rejection (Estado 2) says why (DetalleMotivoRechazo).',
    check(root, report) {
      const detail = groupOf(root, 'DetalleAprobacionComercial');
      if (integerOf(detail, 'Estado') === '2' && !textOf(detail, 'DetalleMotivoRechazo')?.trim()) {
        report(`${APPROVAL}.DetalleMotivoRechazo`, 'Estado is 2 (rejected), so DetalleMotivoRechazo is required');
      }
    },
  },
  {
    name: 'business.approval-reason-unasked',
    code: null,
    appliesTo: ['ACECF'],
    verdict: 'warns',
    source: APPROVAL_FORMAT,
    since: '2023-06',
    summary: 'An approval (Estado 1) has no DetalleMotivoRechazo.',
    check(root, report) {
      const detail = groupOf(root, 'DetalleAprobacionComercial');
      if (integerOf(detail, 'Estado') === '1' && textOf(detail, 'DetalleMotivoRechazo') !== null) {
        report(`${APPROVAL}.DetalleMotivoRechazo`, 'Estado is 1 (approved), so DetalleMotivoRechazo must be left out');
      }
    },
  },
  {
    name: 'business.approval-type',
    code: null,
    appliesTo: ['ACECF'],
    verdict: 'rejects',
    evidence: listed('28-29', 'Aprobación Comercial no es requerida para este tipo de e-CF'),
    source: 'Descripción Técnica v1.6 pp.28-29, 42-46',
    since: '2023-06',
    summary: 'Only e-CF of types 31, 33, 34, 44 and 45 are approved commercially.',
    check(root, report) {
      const type = encfType(textOf(groupOf(root, 'DetalleAprobacionComercial'), 'eNCF') ?? '');
      if (type !== null && !(APPROVABLE_TYPES as readonly string[]).includes(type)) {
        report(`${APPROVAL}.eNCF`, `e-CF of type ${type} are not approved commercially`);
      }
    },
  },
];

/** Rules of acknowledgements of receipt (ARECF) that need the document alone; the view is the root element. */
export const RECEIPT_RULES: readonly DocumentRule<DocumentNode | null>[] = [
  {
    name: 'business.receipt-reason-required',
    code: null,
    appliesTo: ['ARECF'],
    verdict: 'warns',
    source: RECEIPT_FORMAT,
    since: '2023-06',
    summary: 'An e-CF not received (Estado 1) says why (CodigoMotivoNoRecibido).',
    check(root, report) {
      const detail = groupOf(root, 'DetalleAcusedeRecibo');
      if (integerOf(detail, 'Estado') === '1' && textOf(detail, 'CodigoMotivoNoRecibido') === null) {
        report(
          `${RECEIPT}.CodigoMotivoNoRecibido`,
          'Estado is 1 (not received), so CodigoMotivoNoRecibido is required',
        );
      }
    },
  },
  {
    name: 'business.receipt-reason-unasked',
    code: null,
    appliesTo: ['ARECF'],
    verdict: 'warns',
    source: RECEIPT_FORMAT,
    since: '2023-06',
    summary: 'An e-CF received (Estado 0) has no CodigoMotivoNoRecibido.',
    check(root, report) {
      const detail = groupOf(root, 'DetalleAcusedeRecibo');
      if (integerOf(detail, 'Estado') === '0' && textOf(detail, 'CodigoMotivoNoRecibido') !== null) {
        report(
          `${RECEIPT}.CodigoMotivoNoRecibido`,
          'Estado is 0 (received), so CodigoMotivoNoRecibido must be left out',
        );
      }
    },
  },
];
