/**
 * Advisory locks of the database. A change of the read models holds REBUILD shared, so that a generation begins and takes
 * its place between changes; then one lock for each issuer it touches, so that what is there is read and replaced in turn.
 */
export const REBUILD_LOCK = 4_310_001;
/** Held by the session of the instance that rebuilds. */
export const REBUILDER_LOCK = 4_310_002;

/** $1 the rebuild's lock; $2 issuers, in one order everywhere. */
export const TAKE_LOCKS = {
  name: 'projection_locks',
  text: `SELECT pg_advisory_xact_lock_shared($1),
    (SELECT count(pg_advisory_xact_lock(hashtextextended(issuer, 4310003))) FROM unnest($2::text[]) AS issuer)`,
};
