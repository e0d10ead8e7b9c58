/** A hostile input, made from a genuine signed document; for tests and benchmarks. */
export interface Hostile {
  readonly name: string;
  readonly make: (genuine: string, foreignCertificate: string) => string | Buffer;
  readonly headers?: Record<string, string>;
  /** What has to come back: the kind of a 422, the motives an acknowledgement may have, or a status. */
  readonly answer: { kind: string } | { motive: readonly string[] } | { status: number };
}

/** Not a document: the kind of the 422. */
export const unreadable = (kind: string) => ({ kind });
/** A document whose signature does not hold. */
export const BAD_SIGNATURE = { motive: ['2'] };
/** One of which structure or signature does not hold, whichever is looked at first. */
export const BAD = { motive: ['1', '2'] };

export const SIGNATURE = /<Signature .*<\/Signature>/s;

/** The document without its declaration. */
export const bare = (xml: string) => xml.replace(/^<\?xml[^>]*\?>/, '');

/** With another amount, which the signature does not cover. */
export const forge = (xml: string) => xml.replace(/<MontoTotal>[^<]*/, '<MontoTotal>99999.99');
