-- DropIndex
DROP INDEX "delivery_env_issuer_rnc_status_encf_idx";

-- CreateTable
CREATE TABLE "rejection_rollup" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "code" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    "message" TEXT NOT NULL,

    CONSTRAINT "rejection_rollup_pkey" PRIMARY KEY ("env","issuer_rnc","period","day","code")
);

-- CreateIndex
CREATE INDEX "delivery_env_issuer_rnc_status_encf_idx" ON "delivery"("env", "issuer_rnc", "status", "encf") WHERE (status IN ('no_receiver', 'refused', 'unacknowledged', 'failed'));

-- The documents that are already there.
INSERT INTO "rejection_rollup"
SELECT env, issuer_rnc, period, day, code, count(*), max(message)
  FROM (SELECT DISTINCT ON (env, issuer_rnc, encf, m->>'codigo') env, issuer_rnc, created_at, date_issued, m->>'codigo' AS code, left(m->>'valor', 500) AS message
          FROM "invoice" CROSS JOIN LATERAL json_array_elements(messages) AS m
         WHERE listed AND status = 'Rechazado' AND m->>'codigo' <> '') AS said
 CROSS JOIN LATERAL (VALUES ('created', (created_at AT TIME ZONE 'UTC' - interval '4 hours')::date), ('issued', date_issued)) AS d(period, day)
 GROUP BY 1, 2, 3, 4, 5;
