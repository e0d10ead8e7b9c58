/** A hostile input, made from a genuine signed document; for tests and benchmarks. */
export interface Hostile {
  readonly name: string;
  readonly make: (genuine: string, foreignCertificate: string) => string | Buffer;
  readonly headers?: Record<string, string>;
  /** The expected answer: the kind of a 422, the motives that an acknowledgement may have, or a status. */
  readonly answer: { kind: string } | { motive: readonly string[] } | { status: number };
}

/** Not a document: the kind of the 422. */
export const unreadable = (kind: string) => ({ kind });
/** A document with an invalid signature. */
export const BAD_SIGNATURE = { motive: ['2'] };
/** A document with an invalid structure or signature; either motive is right. */
export const BAD = { motive: ['1', '2'] };

export const SIGNATURE = /<Signature .*<\/Signature>/s;

/** The document without its declaration. */
export const bare = (xml: string) => xml.replace(/^<\?xml[^>]*\?>/, '');

/** With another amount, which the signature does not cover. */
export const forge = (xml: string) => xml.replace(/<MontoTotal>[^<]*/, '<MontoTotal>99999.99');
