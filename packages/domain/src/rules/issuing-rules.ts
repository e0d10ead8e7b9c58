import type { Fault } from '../document/fault.js';
import { ECF_TYPES } from '../identifiers.js';
import { formatSignatureDateTime, parseSignatureDateTime } from '../time/dominican-time.js';
import { type BusinessRule, faultOf, NOTES } from './rule.js';
import {
  FORMAT_SINCE,
  format,
  listed,
  OBSERVED_SINCE,
  observed,
  REPORT_SINCE,
  rejectedWith,
  report,
} from './sources.js';

/**
 * Rules that need more than the document: the registered ranges and the documents issued before it. The owner of those
 * checks them and refers to the rows here.
 */
export const ISSUING_RULES = {
  numberNotInRange: {
    name: 'business.number-not-in-range',
    code: '75',
    appliesTo: [...ECF_TYPES, 'RFCE'],
    verdict: 'rejects',
    evidence: listed('20', 'the e-NCF is not authorised for the issuer'),
    source: observed('Descripción Técnica v1.6 p.20'),
    since: OBSERVED_SINCE,
    summary: 'eNCF is in a range registered for its type and environment, where any is registered.',
  },
  numberExpired: {
    name: 'business.number-expired',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE'],
    verdict: 'rejects',
    evidence: listed('20', 'the authorised e-NCF has expired'),
    source: 'Descripción Técnica v1.6 p.20',
    since: '2023-06',
    summary: 'The registered range of eNCF has not expired on the day it is sent.',
  },
  numberExpiry: {
    name: 'business.number-expiry',
    code: '145',
    appliesTo: ECF_TYPES.filter((type) => type !== '32' && type !== '34'),
    verdict: 'rejects',
    evidence: rejectedWith('145'),
    source: observed(format('6')),
    since: FORMAT_SINCE,
    summary: 'FechaVencimientoSecuencia is the expiry registered for the range of eNCF.',
  },
  numberEndsSoon: {
    name: 'business.number-ends-soon',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: 'Descripción Técnica v1.6 p.20',
    since: '2023-06',
    summary: 'The range of a document signed in contingency does not end within 72 hours.',
  },
  referenceNotIssued: {
    name: 'business.reference-not-issued',
    code: '614',
    appliesTo: ECF_TYPES,
    verdict: 'rejects',
    evidence: rejectedWith('614'),
    source: observed(format('56')),
    since: FORMAT_SINCE,
    summary:
      'The electronic document in NCFModificado was accepted. The rule does not apply to documents of other systems.',
  },
  referencePending: {
    name: 'business.reference-pending',
    code: '614',
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: observed(format('56')),
    since: FORMAT_SINCE,
    summary:
      'While the electronic document in NCFModificado is undecided, a document that refers to it is signed, stored and held.',
  },
  referenceNeverIssued: {
    name: 'business.reference-never-issued',
    code: '614',
    appliesTo: NOTES,
    verdict: 'warns',
    source: observed(format('56')),
    since: FORMAT_SINCE,
    summary: 'A number in NCFModificado that lies in a registered range of the issuer was issued here.',
  },
  referenceOfAnother: {
    name: 'business.reference-of-another',
    code: '614',
    appliesTo: NOTES,
    verdict: 'warns',
    source: observed(format('56')),
    since: FORMAT_SINCE,
    summary:
      'The document in NCFModificado was issued by the issuer of the note, not by another taxpayer of the account.',
  },
  referenceBuyer: {
    name: 'business.reference-buyer',
    code: '615',
    appliesTo: NOTES,
    verdict: 'rejects',
    evidence: rejectedWith('615'),
    source: observed(),
    since: OBSERVED_SINCE,
    summary: 'A note names the buyer of the document that it modifies, where that one names any.',
  },
  referenceDate: {
    name: 'business.reference-date',
    code: '634',
    appliesTo: NOTES,
    verdict: 'rejects',
    evidence: rejectedWith('634'),
    source: observed(format('57')),
    since: FORMAT_SINCE,
    summary: 'FechaNCFModificado is FechaEmision of the document that the note modifies.',
  },
  referenceBalance: {
    name: 'business.reference-balance',
    code: '615',
    appliesTo: ['34'],
    verdict: 'rejects',
    evidence: rejectedWith('615'),
    source: observed(`${format('25')} fn.30`),
    since: FORMAT_SINCE,
    summary:
      'MontoTotal of a credit note is at most that of the document it modifies and its accepted debit notes, less earlier credit notes.',
  },
  signedOutsideValidity: {
    name: 'business.signed-outside-validity',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: `${format('58')}; RFC 5280 4.1.2.5`,
    since: FORMAT_SINCE,
    summary:
      'FechaHoraFirma lies within the validity of the certificate that signs, since receivers check it at that time.',
  },
  signedLater: {
    name: 'business.signed-later',
    code: null,
    appliesTo: ['32'],
    verdict: 'warns',
    source: observed(),
    since: OBSERVED_SINCE,
    summary:
      'A consumer invoice whose summary was rejected is signed at another second, because the authority refuses a security code that it has seen.',
  },
  signedBefore: {
    name: 'business.signed-before',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE'],
    verdict: 'warns',
    source: report('17'),
    since: REPORT_SINCE,
    summary: 'A sale has one signed document: the one that was submitted first counts, not the same sale signed again.',
  },
  fullDocumentNotKept: {
    name: 'business.full-document-not-kept',
    code: null,
    appliesTo: ['RFCE'],
    verdict: 'warns',
    source: report('17'),
    since: REPORT_SINCE,
    summary: 'A summary that its issuer signed is stored alone: the issuer keeps the full document.',
  },
} satisfies Record<string, BusinessRule>;

/** The warning about a FechaHoraFirma at which the certificate was not valid yet, or no longer. */
export function signingTimeWarnings(signatureTime: string | null, notBefore: Date, notAfter: Date): Fault[] {
  const signedAt = parseSignatureDateTime(signatureTime ?? '');
  if (signedAt === null || (notBefore <= signedAt && signedAt <= notAfter)) return [];
  const valid = `${formatSignatureDateTime(notBefore)} to ${formatSignatureDateTime(notAfter)}`;
  const message = `FechaHoraFirma ${signatureTime} is outside the validity of the certificate (${valid}); receivers may refuse the document`;
  return [faultOf(ISSUING_RULES.signedOutsideValidity, 'ECF.FechaHoraFirma', message)];
}
