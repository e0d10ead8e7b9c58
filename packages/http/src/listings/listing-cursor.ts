import { createHash } from 'node:crypto';
import type { ListingSort } from '@ecf/contracts';
import { z } from 'zod';

/** The last row of a page; the next page begins after it. */
export interface ListingPlace {
  /** The row's value of the sort: an instant in ISO 8601 (UTC), or a decimal amount. */
  readonly value: string;
  readonly id: number;
  /** How many rows matched when the first page was read. */
  readonly total: number;
}

const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const amount = z.string().regex(/^-?\d{1,30}(\.\d{1,10})?$/);
/** PostgreSQL has no year 0. */
const instant = z.iso.datetime({ precision: 3 }).refine((text) => text >= '0001');
const rest = [count, count, z.string()] as const;
const contents = {
  created_at: z.tuple([instant, ...rest]),
  total_amount: z.tuple([amount, ...rest]),
};

/**
 * The cursor of a listing: base64url of the place and a hash of the listing that it belongs to. It is not signed, because account
 * and environment of a request always come from its key.
 *
 * @param listing the criteria of the listing; a cursor of other criteria is refused
 */
export function listingCursor(sort: ListingSort, listing: object) {
  const listingHash = createHash('sha256')
    .update(JSON.stringify([sort, listing]))
    .digest('base64url')
    .slice(0, 12);

  return {
    write({ value, id, total }: ListingPlace): string {
      return Buffer.from(JSON.stringify([value, id, total, listingHash])).toString('base64url');
    },
    /** The place of a cursor; `foreign` if it belongs to another listing, `malformed` if no listing gave it. */
    read(text: string): ListingPlace | 'foreign' | 'malformed' {
      const parsed = parse(text);
      const own = contents[columnOf(sort)].safeParse(parsed);
      if (!own.success || own.data[3] !== listingHash) return isCursor(parsed) ? 'foreign' : 'malformed';
      const [value, id, total] = own.data;
      return { value, id, total };
    },
  };
}

/** The column of a sort. */
export function columnOf(sort: ListingSort): 'created_at' | 'total_amount' {
  return sort.endsWith('total_amount') ? 'total_amount' : 'created_at';
}

function isCursor(parsed: unknown): boolean {
  return Object.values(contents).some((schema) => schema.safeParse(parsed).success);
}

function parse(text: string): unknown {
  if (!/^[\w-]{1,400}$/.test(text)) return null;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return null;
  }
}
