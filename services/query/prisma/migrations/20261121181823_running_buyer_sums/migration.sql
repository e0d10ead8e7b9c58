-- By hand: what buyers add up to becomes running sums by month and year, filled from the days; names stand for themselves.

-- A generation that is being made has the former shape: its rebuild ends without success, as if it had been given up.
SELECT pg_advisory_xact_lock(4310001);
DO $$
BEGIN
  IF current_schema() <> 'rebuilding' AND EXISTS (SELECT 1 FROM "rebuild" WHERE "building") THEN
    DROP SCHEMA IF EXISTS rebuilding CASCADE;
    UPDATE "rebuild" SET "building" = false, "finished_at" = now(), "failure" = 'the read models were migrated meanwhile; start again';
  END IF;
END $$;

ALTER TABLE "buyer_rollup" RENAME TO "buyer_rollup_by_grain";
ALTER INDEX "buyer_rollup_pkey" RENAME TO "buyer_rollup_by_grain_pkey";

CREATE TABLE "buyer_rollup" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "grain" TEXT NOT NULL,
    "bucket" DATE NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "counts" INTEGER[],
    "amounts" DECIMAL[],

    CONSTRAINT "buyer_rollup_pkey" PRIMARY KEY ("env","issuer_rnc","grain","bucket","buyer_rnc")
);

CREATE TABLE "buyer_name" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "name" TEXT,
    "name_at" TIMESTAMPTZ(3),
    "name_id" BIGINT,

    CONSTRAINT "buyer_name_pkey" PRIMARY KEY ("env","issuer_rnc","buyer_rnc","day")
);

-- A row a month or year: the sum up to each day of the month, each month of the year.
DO $$
DECLARE
  sums CONSTANT text := 'SELECT string_agg(format(''coalesce(sum(%1$I) FILTER (WHERE step <= %2$s), 0)::%3$s'', $1, step, $2), '', '')
    FROM generate_series(1, $3) AS step';
  counts text;
  amounts text;
  grain text;
  steps int;
  step_of text;
BEGIN
  FOR grain, steps, step_of IN VALUES ('month', 31, 'day'), ('year', 12, 'month') LOOP
    EXECUTE sums INTO counts USING 'count', 'int', steps;
    EXECUTE sums INTO amounts USING 'amount', 'numeric', steps;
    EXECUTE format(
      'INSERT INTO "buyer_rollup" SELECT env, issuer_rnc, %1$L, date_trunc(%1$L, bucket)::date, buyer_rnc, ARRAY[%2$s], ARRAY[%3$s]
         FROM (SELECT *, extract(%4$s FROM bucket)::int AS step FROM "buyer_rollup_by_grain" WHERE grain = ''day'' AND count <> 0) AS days
        GROUP BY 1, 2, 4, 5',
      grain, counts, amounts, step_of);
  END LOOP;
END $$;

INSERT INTO "buyer_name" SELECT env, issuer_rnc, buyer_rnc, bucket, name, name_at, name_id
  FROM "buyer_rollup_by_grain" WHERE grain = 'day' AND count <> 0 AND name_at IS NOT NULL;

DROP TABLE "buyer_rollup_by_grain";

ALTER TABLE "buyer_rollup" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "buyer_name" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
