-- CreateTable
CREATE TABLE "batch" (
    "id" BIGSERIAL NOT NULL,
    "account_id" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "idempotency_key" TEXT,
    "sha256" TEXT NOT NULL,
    "validate" BOOLEAN NOT NULL,
    "total" INTEGER NOT NULL,
    "caller" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "received" BOOLEAN NOT NULL DEFAULT false,
    "cancelled_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "counts" JSON,
    "due_at" TIMESTAMPTZ(3),

    CONSTRAINT "batch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "batch_line" (
    "batch_id" BIGINT NOT NULL,
    "line" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "document" BYTEA,
    "encf" TEXT,
    "issuer_rnc" TEXT,
    "same_line" INTEGER,
    "reference_line" INTEGER,
    "due_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "leased" BOOLEAN NOT NULL DEFAULT false,
    "begun" BOOLEAN NOT NULL DEFAULT false,
    "outcome" TEXT,
    "emission_id" BIGINT,
    "attempt" INTEGER,
    "result" JSON,

    CONSTRAINT "batch_line_pkey" PRIMARY KEY ("batch_id","line")
);

-- CreateIndex
CREATE INDEX "batch_account_id_env_id_idx" ON "batch"("account_id", "env", "id");

-- CreateIndex
CREATE INDEX "batch_due_at_idx" ON "batch"("due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "batch_account_id_env_idempotency_key_key" ON "batch"("account_id", "env", "idempotency_key") WHERE (received);

-- CreateIndex
CREATE INDEX "batch_line_account_id_batch_id_line_idx" ON "batch_line"("account_id", "batch_id", "line") WHERE (due_at IS NOT NULL);

-- AddForeignKey
ALTER TABLE "batch_line" ADD CONSTRAINT "batch_line_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "batch"("id") ON DELETE CASCADE ON UPDATE CASCADE;
