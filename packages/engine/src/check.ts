// The entry `./check`: the check of documents in JSON. It loads no module of Node, so it also runs in a browser.
import { examineJson } from '@ecf/ecf-xml/json';
import { type CheckOptions, type CheckResult, checked, jsonValue } from './check-result.js';

export type { EcfType, Fault, Severity } from '@ecf/domain';
export type { DocumentName } from '@ecf/ecf-xml/json';
export type { CheckOptions, CheckResult };

/**
 * Checks a document in JSON: structure, values and business rules, with the verdicts that the gateway gives. A missing
 * FechaHoraFirma or Signature is not a fault. Never throws because of the document: text that is not JSON is a fault.
 *
 * @param input the document under its root key, as `{ECF: {...}}`: an object, or JSON as text or UTF-8 bytes
 */
export function checkJson(input: object | string | Uint8Array, options: CheckOptions = {}): CheckResult {
  return checked(() => examineJson(jsonValue(input), { now: new Date(), ...options }));
}
