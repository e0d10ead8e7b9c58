import type { Journal, JournalEntry } from './journal.js';
import type { Taxpayer, TaxpayerEntry } from './taxpayers.js';

/** The taxpayers that were registered. Every other RNC counts as an active issuer with all numbers and any delegate. */
export class TaxpayerRegister {
  readonly #journal: Journal;
  readonly #taxpayers = new Map<string, Taxpayer>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Takes up an entry of the journal at the start; other kinds of entries are ignored. */
  replay(entry: JournalEntry): void {
    if (entry.t === 'taxpayer') this.#taxpayers.set(entry.taxpayer.rnc, entry.taxpayer);
    else if (entry.t === 'taxpayer-removed') this.#taxpayers.delete(entry.rnc);
  }

  find(rnc: string): Taxpayer | null {
    return this.#taxpayers.get(rnc) ?? null;
  }

  list(): Taxpayer[] {
    return [...this.#taxpayers.values()];
  }

  /** Registers a taxpayer; it replaces an earlier registration completely. */
  put(entry: TaxpayerEntry): Taxpayer {
    const taxpayer: Taxpayer = {
      name: '',
      active: true,
      electronic: true,
      ranges: null,
      delegates: null,
      reception_url: null,
      approval_url: null,
      authentication_url: null,
      ...entry,
    };
    this.#taxpayers.set(taxpayer.rnc, taxpayer);
    this.#journal.append({ t: 'taxpayer', taxpayer });
    return taxpayer;
  }

  remove(rnc: string): boolean {
    const known = this.#taxpayers.delete(rnc);
    if (known) this.#journal.append({ t: 'taxpayer-removed', rnc });
    return known;
  }
}

/** Whether the certificate's holder may act for the taxpayer; only a registered list of delegates says no. */
export function mayActFor(taxpayers: Pick<TaxpayerRegister, 'find'>, holder: string, rnc: string): boolean {
  const delegates = taxpayers.find(rnc)?.delegates ?? null;
  return delegates === null || delegates.includes(holder);
}

/** Whether the holder may log in. A holder that is a registered taxpayer must be active and its own delegate. */
export function mayLogIn(taxpayers: Pick<TaxpayerRegister, 'find'>, holder: string): boolean {
  const self = taxpayers.find(holder);
  return !self || (self.active && mayActFor(taxpayers, holder, holder));
}
