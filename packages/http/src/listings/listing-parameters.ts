import { LISTING_SORTS, type ListingSort, PERIODS, type Period } from '@ecf/contracts';
import { ECF_TYPES } from '@ecf/domain';
import { z } from 'zod';
import { RequestParameters } from '../request-parameters.js';
import { type ListingPlace, listingCursor } from './listing-cursor.js';

const INSTANT = z.iso.datetime({ offset: true });
const AMOUNT = /^\d{1,18}(\.\d{1,2})?$/;

/** Criteria that issued and received documents share; null = any. */
export interface ListingCriteria {
  readonly ecfType: (typeof ECF_TYPES)[number] | null;
  /** Bounds of the amount that a document states, both included; decimal texts. */
  readonly minAmount: string | null;
  readonly maxAmount: string | null;
  /** Only documents that changed then or later. */
  readonly updatedSince: Date | null;
}

/** Reads the parameters of a listing: criteria, sort and cursor. */
export class ListingParameters extends RequestParameters {
  /** Paper of a printed form: `letter` (default) or `ticket`. Its language is Spanish. */
  printFormat(): 'letter' | 'ticket' {
    this.word('lang', ['es']);
    return this.word('format', ['letter', 'ticket']) ?? 'letter';
  }

  criteria(): ListingCriteria {
    const [minAmount, maxAmount] = [this.#amount('min_amount'), this.#amount('max_amount')];
    if (minAmount !== null && maxAmount !== null && cents(minAmount) > cents(maxAmount))
      this.wrong(['query', 'max_amount'], 'max_amount is less than min_amount', 'amount_range');
    return {
      ecfType: this.word('ecf_type', ECF_TYPES),
      minAmount,
      maxAmount,
      updatedSince: this.#instant('updated_since'),
    };
  }

  /** A listing in CSV has all rows. */
  allRows(): void {
    for (const name of ['limit', 'offset', 'cursor'])
      if (this.query(name) !== null)
        this.wrong(['query', name], `an answer in CSV has all rows of the period; leave ${name} out`, 'csv');
  }

  /** The day by which a period selects; default: that of creation. */
  periodOf(): Period {
    return this.word('period', PERIODS) ?? 'created';
  }

  /** Default: the newest first. */
  sort(): ListingSort {
    return this.word('sort', LISTING_SORTS) ?? '-created_at';
  }

  /** One of some words of the query, in any case; null without one. */
  word<W extends string>(name: string, words: readonly W[]): W | null {
    const text = this.query(name)?.toLowerCase() ?? null;
    if (text === null) return null;
    const found = words.find((word) => word.toLowerCase() === text);
    if (found === undefined) this.wrong(['query', name], `${name} is one of ${words.join(', ')}`, 'enum');
    return found ?? null;
  }

  /**
   * The place after which the page begins; null without a cursor.
   * @param listing what {@link listingCursor} gets, for the same listing
   */
  place(sort: ListingSort, listing: object): ListingPlace | null {
    const text = this.query('cursor');
    if (text === null) return null;
    const place = listingCursor(sort, listing).read(text);
    if (place === 'malformed') {
      this.wrong(['query', 'cursor'], 'cursor is the next_cursor of an answer, unchanged', 'cursor');
      return null;
    }
    if (place === 'foreign') {
      const rule = 'a cursor belongs to its listing; repeat the address, headers, filters and sort of the first page';
      this.wrong(['query', 'cursor'], rule, 'cursor');
      return null;
    }
    if (this.query('offset') !== null && this.query('offset') !== '0')
      this.wrong(['query', 'offset'], 'a page that begins at a cursor has no offset; send one of both', 'cursor');
    return place;
  }

  #instant(name: string): Date | null {
    // An unescaped plus sign arrives as a blank.
    const text = this.query(name)?.replace(' ', '+') ?? null;
    if (text === null) return null;
    if (INSTANT.safeParse(text).success) return new Date(text);
    this.wrong(['query', name], `${name} is an instant like 2026-06-15T10:00:00-04:00`, 'instant');
    return null;
  }

  #amount(name: string): string | null {
    const text = this.query(name);
    if (text === null || AMOUNT.test(text)) return text;
    this.wrong(['query', name], `${name} is a decimal from 0, with at most 18 digits and two decimals`, 'amount');
    return null;
  }
}

/** Cents of a decimal with at most two decimals. */
function cents(amount: string): bigint {
  const [units = '0', decimals = ''] = amount.split('.');
  return BigInt(units + decimals.padEnd(2, '0'));
}
