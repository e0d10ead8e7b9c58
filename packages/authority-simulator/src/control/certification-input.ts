import { type DocumentNode, isRnc, RUN_ENVIRONMENTS } from '@ecf/domain';
import { ControlRefused, readJson } from './input.js';

const ROOTS = ['ECF', 'RFCE', 'ACECF'];

/**
 * A certification data set: a list of documents `{ECF: ...}`, `{RFCE: ...}`, `{ACECF: ...}` in the JSON form of
 * documents, all leaves text.
 *
 * @throws ControlRefused with a sentence
 */
export function readCertificationSet(rnc: string, body: Buffer): DocumentNode[] {
  if (!isRnc(rnc)) throw new ControlRefused('The RNC has to be 9 or 11 digits.');
  const documents = readJson(body);
  if (!Array.isArray(documents) || documents.length === 0) throw new ControlRefused('The body has to be a JSON list.');
  for (const [index, document] of documents.entries()) {
    const keys = typeof document === 'object' && document !== null ? Object.keys(document) : [];
    if (keys.length !== 1 || !ROOTS.includes(keys[0] ?? '') || !isTree(document)) {
      throw new ControlRefused(`Document ${index + 1} has to be one of ${ROOTS.join(', ')} with text in all leaves.`);
    }
  }
  return documents as DocumentNode[];
}

/**
 * The environment in which a set is restarted: `{env}`.
 *
 * @throws ControlRefused with a sentence
 */
export function readRestart(rnc: string, body: Buffer): (typeof RUN_ENVIRONMENTS)[number] {
  if (!isRnc(rnc)) throw new ControlRefused('The RNC has to be 9 or 11 digits.');
  const wanted = readJson(body) as { env?: unknown } | null;
  const env = RUN_ENVIRONMENTS.find((each) => each === wanted?.env);
  if (env === undefined) throw new ControlRefused(`env has to be ${RUN_ENVIRONMENTS.join(' or ')}.`);
  return env;
}

function isTree(value: unknown): boolean {
  if (typeof value === 'string') return true;
  return typeof value === 'object' && value !== null && Object.values(value).every(isTree);
}
