import { type DocumentNode, groupOf, integerOf, textOf } from '../document/document-tree.js';
import type { Fault } from '../document/fault.js';
import { ECF_TYPES, encfSequence, hasCheckDigit, isEncf, isRnc } from '../identifiers.js';
import type { EcfView } from './ecf/ecf-view.js';
import { type DocumentKind, type DocumentRule, faultOf, type Report } from './rule.js';
import { FORMAT_SINCE, format, listed } from './sources.js';

/** Where a document names itself and its parties. */
export interface Identity {
  /** Path of the groups, without trailing dot. */
  encf: { path: string; node: DocumentNode | null };
  /** TipoeCF, null if the document has none. */
  type: string | null;
  issuer: { path: string; rnc: string | null };
  buyer: { path: string; rnc: string | null };
}

/** No other number is ever authorised. */
const NOT_AUTHORISED = listed('16, 20', 'the e-NCF is not authorised for the issuer');

export const IDENTITY_RULES: readonly DocumentRule<Identity>[] = [
  {
    name: 'business.encf-format',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE', 'ACECF'],
    verdict: 'rejects',
    evidence: NOT_AUTHORISED,
    source: format('6'),
    since: FORMAT_SINCE,
    summary: 'eNCF is the letter E and twelve digits.',
    check({ encf }, report) {
      const text = textOf(encf.node, 'eNCF');
      if (text !== null && !isEncf(text)) report(`${encf.path}.eNCF`, `eNCF ${text} is not E and twelve digits`);
    },
  },
  {
    name: 'business.encf-type',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE'],
    verdict: 'rejects',
    evidence: NOT_AUTHORISED,
    source: format('6'),
    since: FORMAT_SINCE,
    summary: 'The two digits after the letter of eNCF equal TipoeCF.',
    check({ encf, type }, report) {
      const text = textOf(encf.node, 'eNCF');
      if (text !== null && type !== null && isEncf(text) && text.slice(1, 3) !== type) {
        report(`${encf.path}.eNCF`, `eNCF ${text} is a number of type ${text.slice(1, 3)}, but TipoeCF is ${type}`);
      }
    },
  },
  {
    name: 'business.encf-sequence',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE', 'ACECF'],
    verdict: 'rejects',
    evidence: NOT_AUTHORISED,
    source: format('6'),
    since: FORMAT_SINCE,
    summary: 'The sequence of eNCF is greater than zero.',
    check({ encf }, report) {
      const text = textOf(encf.node, 'eNCF');
      if (text !== null && encfSequence(text) === 0)
        report(`${encf.path}.eNCF`, `eNCF ${text} has the sequence zero; the first number is 1`);
    },
  },
  {
    name: 'business.receipt-encf',
    code: null,
    appliesTo: ['ARECF'],
    verdict: 'warns',
    source: 'Formato Acuse de Recibo v1.0 p.5',
    since: '2023-06',
    summary: 'eNCF of an acknowledgement is the letter E and twelve digits, its sequence greater than zero.',
    check({ encf }, report) {
      const text = textOf(encf.node, 'eNCF');
      if (text !== null && (!isEncf(text) || encfSequence(text) === 0)) {
        report(`${encf.path}.eNCF`, `${text} is not E and twelve digits with a sequence greater than zero`);
      }
    },
  },
  {
    name: 'business.issuer-check-digit',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE', 'ACECF', 'ARECF', 'ANECF'],
    verdict: 'warns',
    source: `${format('10')}; public check-digit algorithm of RNC and cédula`,
    since: FORMAT_SINCE,
    summary: 'The check digit of the issuer number fits; numbers that fail it exist, so this only warns.',
    check({ issuer }, report) {
      warnOfCheckDigit(issuer, report);
    },
  },
  {
    name: 'business.buyer-is-issuer',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE'],
    verdict: 'warns',
    source: `${format('10')}, 12: issuer and buyer are two parties`,
    since: FORMAT_SINCE,
    summary: 'RNCComprador is not RNCEmisor.',
    check({ issuer, buyer }, report) {
      if (buyer.rnc !== null && buyer.rnc.trim() === issuer.rnc?.trim()) {
        report(buyer.path, `the buyer ${buyer.rnc.trim()} is the issuer itself`);
      }
    },
  },
  {
    name: 'business.buyer-check-digit',
    code: '1385',
    appliesTo: [...ECF_TYPES, 'RFCE', 'ACECF', 'ARECF'],
    verdict: 'warns',
    source: `${format('12')}; public check-digit algorithm of RNC and cédula`,
    since: FORMAT_SINCE,
    summary: 'The check digit of the buyer number fits; numbers that fail it exist, so this only warns.',
    check({ buyer }, report) {
      warnOfCheckDigit(buyer, report);
    },
  },
];

function warnOfCheckDigit(party: { path: string; rnc: string | null }, report: Report): void {
  const rnc = party.rnc?.trim() ?? null;
  if (rnc !== null && hasWrongCheckDigit(rnc)) report(party.path, wrongCheckDigit(rnc));
}

/** The warning about the number of a taxpayer that is registered, at a path of the request. */
export function registeredNumberWarnings(rnc: string, path: string): Fault[] {
  const rule = IDENTITY_RULES.find(({ name }) => name === 'business.issuer-check-digit')!;
  return hasWrongCheckDigit(rnc) ? [faultOf(rule, path, wrongCheckDigit(rnc))] : [];
}

function hasWrongCheckDigit(rnc: string): boolean {
  return isRnc(rnc) && !hasCheckDigit(rnc);
}

function wrongCheckDigit(rnc: string): string {
  return `the check digit of ${rnc} is wrong; verify the number before you use it`;
}

/** Identity of an e-CF. */
export function ecfIdentity(ecf: EcfView): Identity {
  return {
    encf: { path: 'ECF.Encabezado.IdDoc', node: ecf.idDoc },
    type: ecf.type,
    issuer: { path: 'ECF.Encabezado.Emisor.RNCEmisor', rnc: textOf(ecf.issuer, 'RNCEmisor') },
    buyer: { path: 'ECF.Encabezado.Comprador.RNCComprador', rnc: textOf(ecf.buyer, 'RNCComprador') },
  };
}

/** Identity of a companion document. */
export function companionIdentity(kind: Exclude<DocumentKind, `${number}`>, root: DocumentNode | null): Identity {
  switch (kind) {
    case 'RFCE': {
      const header = groupOf(root, 'Encabezado');
      const idDoc = groupOf(header, 'IdDoc');
      return {
        encf: { path: 'RFCE.Encabezado.IdDoc', node: idDoc },
        type: integerOf(idDoc, 'TipoeCF'),
        issuer: { path: 'RFCE.Encabezado.Emisor.RNCEmisor', rnc: textOf(groupOf(header, 'Emisor'), 'RNCEmisor') },
        buyer: {
          path: 'RFCE.Encabezado.Comprador.RNCComprador',
          rnc: textOf(groupOf(header, 'Comprador'), 'RNCComprador'),
        },
      };
    }
    case 'ANECF':
      return {
        encf: { path: 'ANECF', node: null },
        type: null,
        issuer: { path: 'ANECF.Encabezado.RncEmisor', rnc: textOf(groupOf(root, 'Encabezado'), 'RncEmisor') },
        buyer: { path: 'ANECF', rnc: null },
      };
    case 'ACECF':
      return detailIdentity('ACECF.DetalleAprobacionComercial', groupOf(root, 'DetalleAprobacionComercial'));
    case 'ARECF':
      return detailIdentity('ARECF.DetalleAcusedeRecibo', groupOf(root, 'DetalleAcusedeRecibo'));
  }
}

function detailIdentity(path: string, detail: DocumentNode | null): Identity {
  return {
    encf: { path, node: detail },
    type: null,
    issuer: { path: `${path}.RNCEmisor`, rnc: textOf(detail, 'RNCEmisor') },
    buyer: { path: `${path}.RNCComprador`, rnc: textOf(detail, 'RNCComprador') },
  };
}
