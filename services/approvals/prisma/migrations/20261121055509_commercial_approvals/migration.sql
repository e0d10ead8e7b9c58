-- CreateTable
CREATE TABLE "given_approvals" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "ecf_document_id" BIGINT,
    "decision" SMALLINT NOT NULL,
    "rejection_code" SMALLINT,
    "rejection_description" TEXT,
    "decided_at" TIMESTAMPTZ(3) NOT NULL,
    "date_issued" DATE NOT NULL,
    "total_amount" DECIMAL NOT NULL,
    "warnings" JSON NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "authority_status" TEXT,
    "authority_response" TEXT,
    "authority_sent_at" TIMESTAMPTZ(3),
    "authority_tries" INTEGER NOT NULL DEFAULT 0,
    "authority_due_at" TIMESTAMPTZ(3),
    "issuer_status" TEXT,
    "issuer_error" TEXT,
    "issuer_sent_at" TIMESTAMPTZ(3),
    "issuer_tries" INTEGER NOT NULL DEFAULT 0,
    "issuer_due_at" TIMESTAMPTZ(3),
    "submitted_at" TIMESTAMPTZ(3),

    CONSTRAINT "given_approvals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "standing_decisions" (
    "env" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "standing_decisions_pkey" PRIMARY KEY ("env","buyer_rnc","issuer_rnc","encf")
);

-- CreateTable
CREATE TABLE "approval_exchanges" (
    "id" BIGSERIAL NOT NULL,
    "approval_id" BIGINT NOT NULL,
    "target" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "outcome" TEXT NOT NULL,
    "http_status" INTEGER,
    "content_type" TEXT,
    "body" TEXT,

    CONSTRAINT "approval_exchanges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "received_approvals" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "decision" SMALLINT NOT NULL,
    "reason" TEXT,
    "decided_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "bytes" INTEGER NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,
    "certificate_subject" TEXT NOT NULL,
    "certificate_serial" TEXT NOT NULL,
    "certificate_fingerprint" TEXT NOT NULL,
    "certificate_holder" TEXT,
    "canonical" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "sender" TEXT,

    CONSTRAINT "received_approvals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refused_approvals" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT,
    "reason" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "xml_path" TEXT,
    "request_id" TEXT NOT NULL,
    "sender" TEXT,

    CONSTRAINT "refused_approvals_pkey" PRIMARY KEY ("id")
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
CREATE INDEX "given_approvals_env_buyer_rnc_issuer_rnc_encf_id_idx" ON "given_approvals"("env", "buyer_rnc", "issuer_rnc", "encf", "id");

-- CreateIndex
CREATE INDEX "given_approvals_env_buyer_rnc_created_at_id_idx" ON "given_approvals"("env", "buyer_rnc", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "given_approvals_authority_due_at_idx" ON "given_approvals"("authority_due_at") WHERE (authority_due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "given_approvals_issuer_due_at_idx" ON "given_approvals"("issuer_due_at") WHERE (issuer_due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "approval_exchanges_approval_id_id_idx" ON "approval_exchanges"("approval_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "received_approvals_env_issuer_rnc_encf_key" ON "received_approvals"("env", "issuer_rnc", "encf");

-- CreateIndex
CREATE INDEX "refused_approvals_env_issuer_rnc_encf_id_idx" ON "refused_approvals"("env", "issuer_rnc", "encf", "id");

-- CreateIndex
CREATE INDEX "taxpayers_account_id_idx" ON "taxpayers"("account_id");

-- CreateIndex
CREATE INDEX "outbox_partition_position_idx" ON "outbox"("partition", "position");

-- CreateIndex
CREATE INDEX "inbox_handled_at_idx" ON "inbox"("handled_at");

-- AddForeignKey
ALTER TABLE "approval_exchanges" ADD CONSTRAINT "approval_exchanges_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "given_approvals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
