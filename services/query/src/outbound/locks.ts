/**
 * Advisory locks. A change of the read models holds REBUILD_LOCK shared, so that a generation begins and takes its place between
 * changes. Then it takes one lock for each issuer, so that changes of one issuer run one after the other.
 */
export const REBUILD_LOCK = 4_310_001;
/** Held by the session of the instance that rebuilds. */
export const REBUILDER_LOCK = 4_310_002;

/** Held by a transaction that adds events to the feed. */
export const FEED_LOCK = 4_310_004;

/** $1 REBUILD_LOCK; $2 issuers, always in the same order. */
export const TAKE_LOCKS = {
  name: 'projection_locks',
  text: `SELECT pg_advisory_xact_lock_shared($1),
    (SELECT count(pg_advisory_xact_lock(hashtextextended(issuer, 4310003))) FROM unnest($2::text[]) AS issuer)`,
};
