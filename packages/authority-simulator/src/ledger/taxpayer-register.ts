import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Taxpayer, TaxpayerEntry } from './taxpayers.js';

/** The taxpayers that were registered. Every other RNC counts as an active issuer with all numbers and any delegate. */
export class TaxpayerRegister {
  readonly #path: string | null;
  readonly #taxpayers = new Map<string, Taxpayer>();

  /** @param folder where the register is kept; null: in memory only */
  constructor(folder: string | null) {
    this.#path = folder === null ? null : path.join(folder, 'taxpayers.json');
    if (this.#path === null || !existsSync(this.#path)) return;
    for (const taxpayer of JSON.parse(readFileSync(this.#path, 'utf8')) as Taxpayer[]) {
      this.#taxpayers.set(taxpayer.rnc, taxpayer);
    }
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
    this.#write();
    return taxpayer;
  }

  remove(rnc: string): boolean {
    const known = this.#taxpayers.delete(rnc);
    if (known) this.#write();
    return known;
  }

  #write(): void {
    if (this.#path === null) return;
    const draft = `${this.#path}.new`;
    writeFileSync(draft, JSON.stringify(this.list(), null, 1));
    renameSync(draft, this.#path);
  }
}
