import type { Fault } from '@ecf/domain';
import type { RefusedElsewhere, Verification } from './verification.js';

const MESSAGES: Readonly<Record<RefusedElsewhere, string>> = {
  blanks:
    'The signature is valid only with the blank text between the elements. Software that drops such text, as .NET does, may refuse it; sign the document without indentation.',
  'carriage-returns':
    'The signature is valid only with the carriage returns (&#13;) of the document. Software that reads them as line feeds, as .NET does, may refuse it; write line feeds before signing.',
};

/**
 * A warning if a valid signature may be refused by other software. It never blocks by itself.
 *
 * @param root name of the document's root element
 */
export function signatureWarnings({ refusedElsewhere }: Pick<Verification, 'refusedElsewhere'>, root: string): Fault[] {
  if (refusedElsewhere === null) return [];
  return [
    {
      path: root,
      rule: 'signature.blanks',
      code: null,
      message: MESSAGES[refusedElsewhere],
      source: 'XML 1.0, 2.11; .NET XmlDocument and SignedXml',
      severity: 'warning',
    },
  ];
}
