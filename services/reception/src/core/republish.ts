import type { DocumentStore } from './ports.js';

const BATCH = 500;

/**
 * Tells the present state of all received documents again, in batches of short transactions, for read models that are
 * made anew. Readers keep the highest revision, so it may run at any time. Resolves with how many there were.
 */
export class Republish {
  constructor(private readonly documents: Pick<DocumentStore, 'republish'>) {}

  async all(): Promise<number> {
    let told = 0;
    let after = 0;
    for (;;) {
      const batch = await this.documents.republish(after, BATCH);
      if (batch === null) return told;
      told += batch.count;
      after = batch.lastId;
    }
  }
}
