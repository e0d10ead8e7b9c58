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
    "reference" TEXT,
    "submitted_by" TEXT,
    "request_id" TEXT,
    "contingency" BOOLEAN NOT NULL DEFAULT false,
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
    "period" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    "amount" DECIMAL NOT NULL,
    "itbis" DECIMAL NOT NULL,

    CONSTRAINT "invoice_rollup_pkey" PRIMARY KEY ("env","issuer_rnc","period","day","ecf_type","status")
);

-- CreateTable
CREATE TABLE "buyer_rollup" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "grain" TEXT NOT NULL,
    "bucket" DATE NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "count" BIGINT NOT NULL,
    "amount" DECIMAL NOT NULL,

    CONSTRAINT "buyer_rollup_pkey" PRIMARY KEY ("env","issuer_rnc","period","grain","bucket","buyer_rnc")
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
CREATE TABLE "invoice_change" (
    "env" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invoice_change_pkey" PRIMARY KEY ("env","encf","issuer_rnc")
);

-- CreateTable
CREATE TABLE "buyer_decision" (
    "env" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "confirmed" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "buyer_decision_pkey" PRIMARY KEY ("env","encf","issuer_rnc")
);

-- CreateTable
CREATE TABLE "feed_event" (
    "id" BIGSERIAL NOT NULL,
    "mark" TEXT NOT NULL DEFAULT substr(md5((gen_random_uuid())::text), 1, 8),
    "occurrence" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "rnc" TEXT,
    "account_id" TEXT,
    "taxpayers" TEXT[],
    "type" TEXT NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "subject" JSON NOT NULL,
    "data" JSON NOT NULL,
    "kept_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "feed_event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook" (
    "id" UUID NOT NULL,
    "account_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "types" TEXT[],
    "environments" TEXT[],
    "active" BOOLEAN NOT NULL DEFAULT true,
    "secret" BYTEA NOT NULL,
    "former_secret" BYTEA,
    "former_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_success_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "paused_until" TIMESTAMPTZ(3),
    "dropped" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "webhook_id" UUID NOT NULL,
    "event_id" BIGINT NOT NULL,
    "subject" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "give_up_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("webhook_id","event_id")
);

-- CreateTable
CREATE TABLE "instances" (
    "id" UUID NOT NULL,
    "key_ids" TEXT[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instances_pkey" PRIMARY KEY ("id")
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
CREATE TABLE "certification_run" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "run" INTEGER NOT NULL,

    CONSTRAINT "certification_run_pkey" PRIMARY KEY ("env","issuer_rnc")
);

-- CreateTable
CREATE TABLE "damaged_document" (
    "path" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "damaged_document_pkey" PRIMARY KEY ("path","sha256")
);

-- CreateTable
CREATE TABLE "rebuild" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "building" BOOLEAN NOT NULL DEFAULT false,
    "filled" BOOLEAN NOT NULL DEFAULT false,
    "started_at" TIMESTAMPTZ(3),
    "progress_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "documents" BIGINT NOT NULL DEFAULT 0,
    "failure" TEXT,

    CONSTRAINT "rebuild_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "consumer_group" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "topic" TEXT NOT NULL,
    "event" JSON NOT NULL,
    "reason" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "failed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "replay" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("consumer_group","event_id")
);

-- CreateTable
CREATE TABLE "restored" (
    "of_others" BOOLEAN NOT NULL DEFAULT false,
    "restored_at" TIMESTAMPTZ(3) NOT NULL,
    "backup_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "restored_pkey" PRIMARY KEY ("of_others")
);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "created_at" DESC, "id" DESC, "encf") WHERE (listed);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_total_amount_id_created_at_encf_idx" ON "invoice"("env", "issuer_rnc", "total_amount", "id", "created_at", "encf") WHERE (listed);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_date_issued_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "date_issued", "created_at", "id", "encf") WHERE (listed);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_buyer_rnc_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "buyer_rnc", "created_at", "id", "encf") WHERE (listed AND buyer_rnc IS NOT NULL);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_status_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "status", "created_at", "id", "encf") WHERE (listed AND status <> 'Aceptado');

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_ecf_type_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "ecf_type", "created_at", "id", "encf") WHERE (listed);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_reference_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "reference", "created_at", "id", "encf") WHERE (listed AND reference IS NOT NULL);

-- CreateIndex
CREATE INDEX "invoice_rollup_day_idx" ON "invoice_rollup"("day") WHERE (period = 'created');

-- CreateIndex
CREATE INDEX "invoice_change_env_issuer_rnc_updated_at_encf_idx" ON "invoice_change"("env", "issuer_rnc", "updated_at", "encf");

-- CreateIndex
CREATE UNIQUE INDEX "feed_event_occurrence_key" ON "feed_event"("occurrence");

-- CreateIndex
CREATE INDEX "feed_event_env_rnc_id_idx" ON "feed_event"("env", "rnc", "id");

-- CreateIndex
CREATE INDEX "feed_event_env_rnc_type_id_idx" ON "feed_event"("env", "rnc", "type", "id");

-- CreateIndex
CREATE INDEX "feed_event_env_account_id_id_idx" ON "feed_event"("env", "account_id", "id") WHERE (rnc IS NULL);

-- CreateIndex
CREATE INDEX "webhook_account_id_idx" ON "webhook"("account_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_subject_event_id_idx" ON "webhook_delivery"("webhook_id", "subject", "event_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_due_at_event_id_idx" ON "webhook_delivery"("webhook_id", "due_at", "event_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_due_at_idx" ON "webhook_delivery"("due_at");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_due_at_idx" ON "webhook_delivery"("webhook_id", "due_at") WHERE (tries = 1);

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_idx" ON "webhook_delivery"("webhook_id") WHERE (leased_until IS NOT NULL);

-- CreateIndex
CREATE INDEX "taxpayers_account_id_idx" ON "taxpayers"("account_id");

-- CreateIndex
CREATE INDEX "dead_letters_replay_failed_at_idx" ON "dead_letters"("replay", "failed_at");

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the schema language cannot express.

ALTER TABLE "buyer_rollup" SET (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);

ALTER TABLE "invoice" SET (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);

ALTER TABLE "invoice_rollup" SET (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

-- The place of readers before the first event.
INSERT INTO "feed_event" ("occurrence", "env", "rnc", "type", "time", "subject", "data", "kept_at")
VALUES ('feed.begun', '', '', 'feed.begun', now(), '{}', '{}', now());

INSERT INTO "rebuild" ("id") VALUES (1);

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
CREATE INDEX "invoice_env_issuer_rnc_modified_encf_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "modified_encf", "created_at", "id", "encf") WHERE (listed AND modified_encf IS NOT NULL);

-- CreateIndex
CREATE INDEX "delivery_env_issuer_rnc_status_encf_idx" ON "delivery"("env", "issuer_rnc", "status", "encf") WHERE (status = ANY (ARRAY['no_receiver'::text, 'refused'::text, 'unacknowledged'::text, 'failed'::text]));
