-- CreateTable
CREATE TABLE "deliveries" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deadline_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "claim" UUID,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "traceparent" TEXT,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "received_acknowledgements" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "receipt_status" SMALLINT,
    "rejection_code" SMALLINT,
    "acknowledged_at" TIMESTAMPTZ(3),
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "valid" BOOLEAN NOT NULL,
    "validation_error" TEXT,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,

    CONSTRAINT "received_acknowledgements_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "deliveries_due_at_idx" ON "deliveries"("due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "deliveries_env_issuer_rnc_encf_key" ON "deliveries"("env", "issuer_rnc", "encf");

-- CreateIndex
CREATE INDEX "received_acknowledgements_env_issuer_rnc_received_at_id_idx" ON "received_acknowledgements"("env", "issuer_rnc", "received_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "received_acknowledgements_env_issuer_rnc_encf_xml_sha256_key" ON "received_acknowledgements"("env", "issuer_rnc", "encf", "xml_sha256");
