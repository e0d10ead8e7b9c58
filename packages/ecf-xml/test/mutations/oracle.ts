import { XmlDocument, XmlValidateError, XsdValidator } from 'libxml2-wasm';
import { type SchemaId, xsd } from '../../src/index.js';
import { hasSharedMaterial, sharedText } from './shared-material.js';

const validators = new Map<SchemaId, XsdValidator>();

/** libxml2's verdict by the authority's schema, or by ours if the authority's is not available. */
export function libxml2Accepts(id: SchemaId, source: string | Uint8Array): boolean {
  return withParsed(source, (document) => isValid(validatorOf(id), document));
}

/** The verdict of the reference implementation; false if it cannot parse the document. */
export function withParsed(source: string | Uint8Array, check: (document: XmlDocument) => boolean): boolean {
  let document: XmlDocument;
  try {
    document = typeof source === 'string' ? XmlDocument.fromString(source) : XmlDocument.fromBuffer(source);
  } catch {
    return false;
  }
  try {
    return check(document);
  } finally {
    document.dispose();
  }
}

export function isValid(validator: XsdValidator, document: XmlDocument): boolean {
  try {
    validator.validate(document);
    return true;
  } catch (error) {
    if (error instanceof XmlValidateError) return false;
    throw error;
  }
}

export function validatorOf(id: SchemaId): XsdValidator {
  let validator = validators.get(id);
  if (!validator) {
    validator = compile(hasSharedMaterial ? permitted(id, sharedText(`xsd/${id}.xsd`)) : xsd(id));
    validators.set(id, validator);
  }
  return validator;
}

/** Divergence: `^` and `$` of Alfa20Type in 33 and 34 are anchors, as the authority's platform reads them. */
function permitted(id: SchemaId, text: string): string {
  return id === 'ecf-33' || id === 'ecf-34' ? text.replace(/value="\^(\[[^"]*\]\*)\$"/, 'value="$1"') : text;
}

export function compile(text: string): XsdValidator {
  const document = XmlDocument.fromString(text);
  try {
    return XsdValidator.fromDoc(document);
  } finally {
    document.dispose();
  }
}
