-- CreateTable
CREATE TABLE "invoice" (
    "env" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "id" BIGINT NOT NULL,
    "revision" INTEGER NOT NULL,
    "listed" BOOLEAN NOT NULL,
    "settled" BOOLEAN NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "code" TEXT,
    "messages" JSON NOT NULL,
    "sequence_used" BOOLEAN,
    "track_id" TEXT,
    "buyer_rnc" TEXT,
    "buyer_name" TEXT,
    "date_issued" DATE NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "signed_at" TIMESTAMPTZ(3) NOT NULL,
    "total_amount" DECIMAL NOT NULL,
    "total_itbis" DECIMAL NOT NULL,
    "modified_encf" TEXT,
    "security_code" TEXT NOT NULL,
    "qr_url" TEXT NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_checksum" TEXT NOT NULL,
    "rfce_path" TEXT,
    "rfce_checksum" TEXT,
    "attempts" JSON NOT NULL,

    CONSTRAINT "invoice_pkey" PRIMARY KEY ("env","encf","issuer_rnc")
);

-- CreateTable
CREATE TABLE "invoice_rollup" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "grain" TEXT NOT NULL,
    "bucket" DATE NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    "amount" DECIMAL NOT NULL,
    "itbis" DECIMAL NOT NULL,

    CONSTRAINT "invoice_rollup_pkey" PRIMARY KEY ("env","issuer_rnc","grain","bucket","ecf_type","status")
);

-- CreateTable
CREATE TABLE "buyer_rollup" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "grain" TEXT NOT NULL,
    "bucket" DATE NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    "amount" DECIMAL NOT NULL,
    "name" TEXT,
    "name_at" TIMESTAMPTZ(3),
    "name_id" BIGINT,

    CONSTRAINT "buyer_rollup_pkey" PRIMARY KEY ("env","issuer_rnc","grain","bucket","buyer_rnc")
);

-- CreateTable
CREATE TABLE "received_invoice" (
    "env" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "id" BIGINT NOT NULL,
    "revision" INTEGER NOT NULL,
    "date_received" TIMESTAMPTZ(3) NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_checksum" TEXT NOT NULL,
    "conflicts" JSON NOT NULL,

    CONSTRAINT "received_invoice_pkey" PRIMARY KEY ("env","encf","issuer_rnc","buyer_rnc")
);

-- CreateTable
CREATE TABLE "delivery" (
    "env" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "status" TEXT NOT NULL,

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("env","encf","issuer_rnc")
);

-- CreateTable
CREATE TABLE "buyer_decision" (
    "env" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "status" TEXT NOT NULL,

    CONSTRAINT "buyer_decision_pkey" PRIMARY KEY ("env","encf","issuer_rnc")
);

-- CreateTable
CREATE TABLE "taxpayer" (
    "rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "taxpayer_pkey" PRIMARY KEY ("rnc")
);

-- CreateTable
CREATE TABLE "account" (
    "id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rebuild" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "building" BOOLEAN NOT NULL DEFAULT false,
    "filled" BOOLEAN NOT NULL DEFAULT false,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "documents" BIGINT NOT NULL DEFAULT 0,
    "failure" TEXT,

    CONSTRAINT "rebuild_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "created_at" DESC, "id" DESC, "encf") WHERE (listed);

-- CreateIndex
CREATE INDEX "buyer_rollup_env_issuer_rnc_buyer_rnc_bucket_idx" ON "buyer_rollup"("env", "issuer_rnc", "buyer_rnc", "bucket" DESC) WHERE (grain = 'day');

-- CreateIndex
CREATE INDEX "taxpayer_account_id_idx" ON "taxpayer"("account_id");

-- By hand: room on the page for the few changes a document sees in its first seconds, and vacuum that follows a table of
-- millions of rows closely, so that lists are read from the index alone.
ALTER TABLE "invoice" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "invoice_rollup" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "buyer_rollup" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

INSERT INTO "rebuild" ("id") VALUES (1);
