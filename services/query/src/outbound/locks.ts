/** Held by a transaction that adds events to the feed. */
export const FEED_LOCK = 4_310_004;

/** $1 issuers, always in the same order: the changes of one issuer run one after the other. */
export const TAKE_LOCKS = {
  name: 'projection_locks',
  text: `SELECT count(pg_advisory_xact_lock(hashtextextended(issuer, 4310003))) FROM unnest($1::text[]) AS issuer`,
};
