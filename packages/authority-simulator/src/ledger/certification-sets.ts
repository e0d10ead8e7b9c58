import type { DocumentNode, DocumentValue, Environment } from '@ecf/domain';
import { isAccepted, type Message } from '../verdicts/verdict.js';
import type { Journal, JournalEntry } from './journal.js';
import type { Submission } from './submission.js';

/** Each issuer creates these values, so no data set can state them. */
const NOT_COMPARED = new Set(['FechaHoraFirma', 'CodigoSeguridadeCF', 'FechaHoraAprobacionComercial']);

interface DataSet {
  /** Texts by path, by root element and eNCF. */
  readonly expected: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Documents accepted since the last rejection, counted separately for full documents and summaries. */
  readonly accepted: { readonly ECF: Set<string>; readonly RFCE: Set<string> };
}

/**
 * The stricter certification environment of STRICT_CERTIFICATION: observations become rejections. An issuer with a data set
 * has to send exactly its documents, text by text, before it may send approvals. Sources: certification process p.8; field
 * reports.
 */
export class CertificationSets {
  readonly #on: boolean;
  readonly #journal: Journal;
  readonly #sets = new Map<string, DataSet>();

  constructor(on: boolean, journal: Journal) {
    this.#on = on;
    this.#journal = journal;
  }

  /** Takes up an entry of the journal at the start; other kinds of entries are ignored. */
  replay(entry: JournalEntry): void {
    if (entry.t === 'certification') this.#sets.set(entry.rnc, dataSet(entry.documents));
  }

  put(rnc: string, documents: readonly DocumentNode[]): void {
    this.#sets.set(rnc, dataSet(documents));
    this.#journal.append({ t: 'certification', rnc, documents });
  }

  /** How far an issuer has come; null: it has no data set. */
  progress(rnc: string): { documents: number; accepted: number; approvals_open: boolean } | null {
    const set = this.#sets.get(rnc);
    if (!set) return null;
    const documents = [...set.expected.keys()].filter((name) => !name.startsWith('ACECF ')).length;
    const accepted = set.accepted.ECF.size + set.accepted.RFCE.size;
    return { documents, accepted, approvals_open: accepted === documents };
  }

  /** Whether the environment turns observations into rejections. */
  strict(env: Environment): boolean {
    return this.#on && env === 'CerteCF';
  }

  /** Whether the data set states approvals: of invoices that the authority itself issued to the taxpayer. */
  statesApprovals(env: Environment, rnc: string): boolean {
    const names = this.strict(env) ? (this.#sets.get(rnc)?.expected.keys() ?? []) : [];
    return [...names].some((name) => name.startsWith('ACECF '));
  }

  /** The difference between a document and the data set of its sender. */
  check(env: Environment, rnc: string, tree: DocumentNode): Message[] {
    const set = this.strict(env) ? this.#sets.get(rnc) : undefined;
    if (!set) return [];
    const actual = texts(tree);
    const expected = set.expected.get(nameOf(actual)) ?? new Map<string, string>();
    const paths = new Set([...expected.keys(), ...actual.keys()]);
    return [...paths].flatMap((at) => difference(at, actual.get(at) ?? '', expected.get(at) ?? ''));
  }

  /** Counts a decided document. A rejection resets the count. */
  decided({ env, operation, rnc, encf, verdict }: Submission): void {
    const set = this.strict(env) && rnc !== null ? this.#sets.get(rnc) : undefined;
    const accepted = operation === 'recepcion' ? set?.accepted.ECF : set?.accepted.RFCE;
    if (!accepted || encf === null || operation === 'aprobacioncomercial') return;
    if (isAccepted(verdict)) accepted.add(encf);
    else accepted.clear();
  }

  /** Approvals are accepted when all documents of the set have been accepted. */
  takesApprovals(env: Environment, rnc: string): boolean {
    return !this.strict(env) || (this.progress(rnc)?.approvals_open ?? true);
  }

  /** The authority restarts the set of an issuer. */
  restart(rnc: string): void {
    const set = this.#sets.get(rnc);
    set?.accepted.ECF.clear();
    set?.accepted.RFCE.clear();
  }

  forgetProgress(): void {
    for (const { accepted } of this.#sets.values()) {
      accepted.ECF.clear();
      accepted.RFCE.clear();
    }
  }
}

function dataSet(documents: readonly DocumentNode[]): DataSet {
  const expected = new Map(documents.map((document) => [nameOf(texts(document)), texts(document)]));
  return { expected, accepted: { ECF: new Set(), RFCE: new Set() } };
}

/** `ECF E310000000001`. */
function nameOf(document: ReadonlyMap<string, string>): string {
  const root = document.keys().next().value?.split('.')[0] ?? '';
  const encf = [...document].find(([at]) => at.endsWith('.eNCF'))?.[1];
  return `${root} ${encf ?? ''}`;
}

/** All texts of a document by their paths; a list of one and a single value have the same path. */
function texts(value: DocumentValue, at = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'string') {
    if (value !== '') found.set(at, value);
  } else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) texts(entry, index === 0 ? at : `${at}[${index + 1}]`, found);
  } else {
    for (const [name, entry] of Object.entries(value)) {
      if (!NOT_COMPARED.has(name)) texts(entry, at === '' ? name : `${at}.${name}`, found);
    }
  }
  return found;
}

function difference(at: string, sent: string, expected: string): Message[] {
  if (sent === expected) return [];
  const field = at.split('.').at(-1) ?? at;
  const text = `La propiedad ${field} no es válida debido a que el valor enviado (${sent}) no coincide con el valor (${expected}) del conjunto de datos entregados`;
  return [{ code: '0', text }];
}
