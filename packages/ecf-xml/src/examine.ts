import { checkBusinessRules, type DocumentNode, type Fault } from '@ecf/domain';
import type { CheckedDocument, ExaminedDocument, ExamineOptions } from './documents.js';
import type { FaultList } from './fault-list.js';
import { checkValue } from './json/check-json.js';
import { checkSource } from './xml/check-xml.js';
import type { CanonicalXml } from './xml/parse-xml.js';

/**
 * Structure and business rules of a document in JSON, as emission and the command line check it.
 *
 * @param value what a JSON parser gave, the root key on top
 */
export function examineJson(value: unknown, options: ExamineOptions): ExaminedDocument {
  const found = checkValue(value);
  return examined(found, options, found.rewritten.faults);
}

/** Elements that a document may lack before it is signed. */
const FILLED_AT_SIGNING = /^\w+\.(Signature|FechaHoraFirma)$/;

/**
 * Structure and business rules of a document in XML. Signatures are not verified here.
 *
 * @param options `unsigned`: it is still to be signed, and may lack what signing fills in
 */
export function examineXml(xml: CanonicalXml, options: ExamineOptions & { unsigned?: boolean }): ExaminedDocument {
  const found = checkSource(xml.source);
  const comments =
    xml.hasInnerComments && !options.unsigned && !options.schemaOnly ? [commentWarning(xml.rootName)] : [];
  if (xml.hasByteOrderMark && !options.unsigned) found.stricter.byteOrderMark(xml.rootName);
  if (!options.unsigned) {
    const result = examined(found, options);
    return { ...result, warnings: [...result.warnings, ...comments] };
  }
  const faults = found.checked.faults.filter(
    ({ rule, path }) => !(rule === 'schema.required' && FILLED_AT_SIGNING.test(path)),
  );
  return examined({ ...found, checked: { ...found.checked, faults } }, options);
}

/** Signing leaves comments out, so this is said of signed documents alone. */
function commentWarning(root: string): Fault {
  const message =
    'There are comments inside the document. Receivers refuse it, since comments can make a value read differently from what was signed; write it without.';
  const source = 'Canonical XML 1.0 without comments: the signature does not cover them';
  return { path: root, rule: 'schema.unknown', code: null, message, source, severity: 'warning' };
}

/**
 * Business rules speak about documents whose structure is sound, so faults of structure come alone. Only the structural check
 * lets pass what the schema allows and the authority refuses (empty tags above all).
 */
function examined(
  { checked, stricter }: { checked: CheckedDocument; stricter: FaultList },
  options: ExamineOptions,
  rewritten: readonly Fault[] = [],
): ExaminedDocument {
  if (checked.faults.length > 0 || !checked.tree) return result(checked, checked.faults, []);
  if (options.schemaOnly) return result(checked, [], [...rewritten]);
  const { faults, warnings } = businessRules(checked.tree, options.now);
  return result(checked, [...stricter.faults, ...faults], [...rewritten, ...warnings]);
}

function businessRules(tree: DocumentNode, now: Date): { faults: Fault[]; warnings: Fault[] } {
  return checkBusinessRules(tree, { now });
}

function result(checked: CheckedDocument, faults: Fault[], warnings: Fault[]): ExaminedDocument {
  const { document, type, schema, encf, tree } = checked;
  return { document, type, schema, encf, tree, faults, warnings, valid: faults.length === 0 };
}
