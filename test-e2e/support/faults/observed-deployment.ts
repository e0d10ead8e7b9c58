import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { agreement, type LedgerEntry } from '../agreement/agreement.js';
import { load, type Submitted } from '../agreement/chaos.js';
import type { StoredEverywhere } from '../agreement/stored-everywhere.js';
import { untilWhole } from '../agreement/whole.js';
import { Client } from '../client.js';
import type { Standalone } from '../deployment/standalone-process.js';
import { Numbering } from '../documents/documents.js';
import { until } from '../until.js';

const ISSUER = '199999991';
/** Longer than any part is given up for. */
const WHOLE_MS = 240_000;

/** A fault, and how it ends. */
export interface Fault {
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

/** A deployment to which callers submit invoices, with the numbers that it confirmed. */
export class ObservedDeployment {
  /** The sandbox issued the first number itself. */
  readonly #confirmed = ['E310000000001'];
  readonly #numbers = new Numbering({ rnc: ISSUER, name: 'Comercial Palma Ficticia, SRL' });

  /** @param stored opens the databases and the archive for one comparison */
  constructor(
    readonly running: Standalone,
    private readonly stored: () => StoredEverywhere,
  ) {}

  /** Callers submit invoices, in rounds, until each has 200. */
  async submit(count: number, examples?: readonly string[]): Promise<Submitted[]> {
    const all = await load(this.running, this.#numbers, count, () => undefined, examples);
    this.#confirmed.push(...all.map(({ encf }) => encf));
    return all;
  }

  /** Submits while the fault lasts. Resolves with the invoices and the time at which it ended. */
  async through({ begin, end }: Fault, lastsMs: number, round: number): Promise<{ all: Submitted[]; endedAt: number }> {
    await begin();
    let endedAt = 0;
    const ended = delay(lastsMs)
      .then(end)
      .finally(() => {
        endedAt = performance.now();
      });
    const all: Submitted[] = [];
    do all.push(...(await this.submit(round)));
    while (endedAt === 0);
    await ended;
    return { all, endedAt };
  }

  /** Rows of open work, by what they wait for. */
  async openWork(): Promise<Record<string, number>> {
    const stored = this.stored();
    return stored.openWork().finally(() => stored.close());
  }

  /** Waits until no work is open. */
  async expectWhole(): Promise<void> {
    const stored = this.stored();
    try {
      await untilWhole(this.running, stored, WHOLE_MS);
    } finally {
      await stored.close();
    }
  }

  /** Compares everything that the deployment has with the authority's ledger and the confirmed invoices. */
  async expectAgreement(): Promise<void> {
    const stored = this.stored();
    try {
      const { body } = await new Client(this.running).control('GET', `/submissions?rnc=${ISSUER}`);
      const ledger = (body as LedgerEntry[]).filter(({ operation }) => /^recepcion/.test(operation));
      const compare = () => agreement(stored, ledger);
      // A delivery may still be retried, which changes its row for a moment.
      const { differences } = await until(compare, (seen) => seen.differences.length === 0).catch(compare);
      expect(differences.slice(0, 5)).toEqual([]);
      expect((await stored.readModels()).map(({ encf }) => encf).sort()).toEqual([...this.#confirmed].sort());
    } finally {
      await stored.close();
    }
  }
}
