-- CreateTable
CREATE TABLE "received_documents" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "ecf_type" TEXT NOT NULL,
    "issuer_name" TEXT NOT NULL,
    "buyer_name" TEXT,
    "date_issued" DATE,
    "total_amount" DECIMAL NOT NULL,
    "total_itbis" DECIMAL NOT NULL,
    "modified_encf" TEXT,
    "signature_datetime" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "bytes" INTEGER NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,
    "arecf_path" TEXT NOT NULL,
    "arecf_sha256" TEXT NOT NULL,
    "acknowledged_at" TIMESTAMPTZ(3) NOT NULL,
    "answered_at" TIMESTAMPTZ(3),
    "certificate_subject" TEXT NOT NULL,
    "certificate_serial" TEXT NOT NULL,
    "certificate_fingerprint" TEXT NOT NULL,
    "certificate_holder" TEXT,
    "canonical" TEXT NOT NULL,
    "observations" JSON NOT NULL,
    "approval_status" TEXT NOT NULL DEFAULT 'pending',
    "approval_datetime" TIMESTAMPTZ(3),
    "approval_revision" BIGINT NOT NULL DEFAULT 0,
    "request_id" TEXT NOT NULL,
    "sender" TEXT,

    CONSTRAINT "received_documents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refused_documents" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "motive" SMALLINT NOT NULL,
    "reason" TEXT NOT NULL,
    "faults" JSON NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "xml_path" TEXT,
    "arecf_path" TEXT NOT NULL,
    "arecf_sha256" TEXT NOT NULL,
    "acknowledged_at" TIMESTAMPTZ(3) NOT NULL,
    "certificate_subject" TEXT,
    "certificate_serial" TEXT,
    "certificate_fingerprint" TEXT,
    "certificate_holder" TEXT,
    "holder_id" BIGINT,
    "conflict_of" BIGINT,
    "request_id" TEXT NOT NULL,
    "sender" TEXT,

    CONSTRAINT "refused_documents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "early_decisions" (
    "env" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,
    "approval_status" TEXT NOT NULL,
    "approval_datetime" TIMESTAMPTZ(3),

    CONSTRAINT "early_decisions_pkey" PRIMARY KEY ("env","buyer_rnc","issuer_rnc","encf")
);

-- CreateTable
CREATE TABLE "taxpayers" (
    "rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,
    "state" JSON NOT NULL,

    CONSTRAINT "taxpayers_pkey" PRIMARY KEY ("rnc")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "spent_seeds" (
    "id" TEXT NOT NULL,
    "expires" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spent_seeds_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "token_keys" (
    "kid" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "public_jwk" JSON NOT NULL,
    "private_jwk" BYTEA NOT NULL,

    CONSTRAINT "token_keys_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "outbox" (
    "position" BIGSERIAL NOT NULL,
    "partition" SMALLINT NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "event" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "inbox" (
    "consumer_group" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "handled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer_group","event_id")
);

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "received_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_issuer_rnc_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "issuer_rnc", "received_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "received_documents_env_buyer_rnc_encf_issuer_rnc_key" ON "received_documents"("env", "buyer_rnc", "encf", "issuer_rnc");

-- CreateIndex
CREATE INDEX "refused_documents_env_buyer_rnc_encf_issuer_rnc_id_idx" ON "refused_documents"("env", "buyer_rnc", "encf", "issuer_rnc", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "refused_documents_conflict_of_sha256_key" ON "refused_documents"("conflict_of", "sha256");

-- CreateIndex
CREATE INDEX "taxpayers_account_id_idx" ON "taxpayers"("account_id");

-- CreateIndex
CREATE INDEX "spent_seeds_expires_idx" ON "spent_seeds"("expires");

-- CreateIndex
CREATE INDEX "outbox_partition_position_idx" ON "outbox"("partition", "position");

-- CreateIndex
CREATE INDEX "inbox_handled_at_idx" ON "inbox"("handled_at");

-- AddForeignKey
ALTER TABLE "refused_documents" ADD CONSTRAINT "refused_documents_holder_id_fkey" FOREIGN KEY ("holder_id") REFERENCES "received_documents"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Rows come and go all day: vacuum by count, not by share.
ALTER TABLE "outbox" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
