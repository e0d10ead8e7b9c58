-- CreateTable
CREATE TABLE "given_approvals" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_by" TEXT,
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
    "submitted_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),
    "settled_note" TEXT,
    "superseded_at" TIMESTAMPTZ(3),

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
    "certificate_issuer" TEXT NOT NULL DEFAULT '',
    "certificate_fingerprint" TEXT NOT NULL,
    "certificate_key" TEXT NOT NULL DEFAULT '',
    "certificate_holder" TEXT,
    "certificate_trusted" BOOLEAN,
    "canonical" TEXT NOT NULL,
    "content_sha256" TEXT,
    "request_id" TEXT NOT NULL,
    "sender" TEXT,
    "confirmed" BOOLEAN NOT NULL DEFAULT false,
    "ruled_counts" BOOLEAN,
    "ruled_reason" TEXT,
    "ruled_at" TIMESTAMPTZ(3),
    "replaced_id" BIGINT,

    CONSTRAINT "received_approvals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "received_decisions" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 0,
    "answer_id" BIGINT,

    CONSTRAINT "received_decisions_pkey" PRIMARY KEY ("id")
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
    "repeats" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "refused_approvals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "used_quotas" (
    "scope" TEXT NOT NULL,
    "hour" INTEGER NOT NULL,
    "used" BIGINT NOT NULL,

    CONSTRAINT "used_quotas_pkey" PRIMARY KEY ("scope","hour")
);

-- CreateTable
CREATE TABLE "certification_run" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "run" INTEGER NOT NULL,

    CONSTRAINT "certification_run_pkey" PRIMARY KEY ("env","issuer_rnc")
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
CREATE TABLE "pending_document" (
    "path" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "pending_document_pkey" PRIMARY KEY ("path","sha256")
);

-- CreateTable
CREATE TABLE "archive_size" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "archive_size_pkey" PRIMARY KEY ("id")
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
CREATE TABLE "outbox" (
    "position" BIGSERIAL NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "event" JSON NOT NULL,
    "refused" BOOLEAN NOT NULL DEFAULT false,
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

-- CreateTable
CREATE TABLE "outgoing_documents" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "approval_id" BIGINT,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deadline_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3),
    "claim" UUID,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "sent_at" TIMESTAMPTZ(3),
    "uncertain" BOOLEAN NOT NULL DEFAULT false,
    "last_error" TEXT,
    "traceparent" TEXT,
    "needs_certificate" BOOLEAN NOT NULL DEFAULT false,
    "host" TEXT,

    CONSTRAINT "outgoing_documents_pkey" PRIMARY KEY ("id")
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
    "receiver" TEXT,
    "certificate_subject" TEXT,
    "certificate_serial" TEXT,
    "certificate_issuer" TEXT,
    "certificate_fingerprint" TEXT,
    "certificate_key" TEXT,
    "certificate_holder" TEXT,
    "certificate_trusted" BOOLEAN,

    CONSTRAINT "received_acknowledgements_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "known_signers" (
    "env" TEXT NOT NULL,
    "rnc" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "holder" TEXT,
    "trusted" BOOLEAN NOT NULL,
    "first_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_signers_pkey" PRIMARY KEY ("env","rnc","key")
);

-- CreateTable
CREATE TABLE "instances" (
    "id" UUID NOT NULL,
    "key_ids" TEXT[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instances_pkey" PRIMARY KEY ("id")
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
CREATE INDEX "given_approvals_env_buyer_rnc_issuer_rnc_encf_id_idx" ON "given_approvals"("env", "buyer_rnc", "issuer_rnc", "encf", "id");

-- CreateIndex
CREATE INDEX "given_approvals_env_buyer_rnc_created_at_id_idx" ON "given_approvals"("env", "buyer_rnc", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "given_approvals_settled_idx" ON "given_approvals"("id") WHERE (settled_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "approval_exchanges_approval_id_id_idx" ON "approval_exchanges"("approval_id", "id");

-- CreateIndex
CREATE INDEX "received_approvals_unconfirmed_idx" ON "received_approvals"("env", "buyer_rnc") WHERE (NOT confirmed);

-- CreateIndex
CREATE UNIQUE INDEX "received_approvals_env_issuer_rnc_encf_xml_sha256_key" ON "received_approvals"("env", "issuer_rnc", "encf", "xml_sha256");

-- CreateIndex
CREATE UNIQUE INDEX "received_decisions_env_issuer_rnc_encf_key" ON "received_decisions"("env", "issuer_rnc", "encf");

-- CreateIndex
CREATE INDEX "refused_approvals_env_issuer_rnc_encf_id_idx" ON "refused_approvals"("env", "issuer_rnc", "encf", "id");

-- CreateIndex
CREATE INDEX "refused_approvals_env_issuer_rnc_encf_sha256_idx" ON "refused_approvals"("env", "issuer_rnc", "encf", "sha256");

-- CreateIndex
CREATE INDEX "taxpayers_account_id_idx" ON "taxpayers"("account_id");

-- CreateIndex
CREATE INDEX "pending_document_due_at_idx" ON "pending_document"("due_at");

-- CreateIndex
CREATE INDEX "outbox_refused_position_idx" ON "outbox"("refused", "position");

-- CreateIndex
CREATE INDEX "inbox_handled_at_idx" ON "inbox"("handled_at");

-- CreateIndex
CREATE INDEX "outgoing_documents_status_approval_id_idx" ON "outgoing_documents"("status", "approval_id") WHERE (approval_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "outgoing_documents_issuer_rnc_idx" ON "outgoing_documents"("issuer_rnc") WHERE (needs_certificate);

-- CreateIndex
CREATE INDEX "outgoing_documents_due_at_idx" ON "outgoing_documents"("due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "outgoing_documents_first_look_up_idx" ON "outgoing_documents"("env", "buyer_rnc", "created_at") WHERE (status = 'no_receiver'::text) AND (tries = 0);

-- CreateIndex
CREATE UNIQUE INDEX "outgoing_documents_approval_id_kind_key" ON "outgoing_documents"("approval_id", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "outgoing_documents_delivery_key" ON "outgoing_documents"("env", "issuer_rnc", "encf") WHERE (kind = 'delivery'::text);

-- CreateIndex
CREATE INDEX "received_acknowledgements_env_issuer_rnc_received_at_id_idx" ON "received_acknowledgements"("env", "issuer_rnc", "received_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "received_acknowledgements_env_issuer_rnc_encf_xml_sha256_key" ON "received_acknowledgements"("env", "issuer_rnc", "encf", "xml_sha256");

-- CreateIndex
CREATE INDEX "dead_letters_replay_failed_at_idx" ON "dead_letters"("replay", "failed_at");

-- AddForeignKey
ALTER TABLE "approval_exchanges" ADD CONSTRAINT "approval_exchanges_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "given_approvals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "received_decisions" ADD CONSTRAINT "received_decisions_answer_id_fkey" FOREIGN KEY ("answer_id") REFERENCES "received_approvals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "outgoing_documents" ADD CONSTRAINT "outgoing_documents_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "given_approvals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What the schema language cannot express.

INSERT INTO "archive_size" ("bytes") VALUES (0);

CREATE FUNCTION revise_after_restore()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    -- Other services may have seen every revision up to the seconds from 2026 to the restore.
    IF NEW.revision > 0 AND (TG_OP = 'INSERT' OR NEW.revision > OLD.revision) THEN
        NEW.revision := greatest(NEW.revision, (
            SELECT ceil(extract(epoch FROM r.restored_at - '2026-01-01 00:00:00+00'::timestamptz))::integer
              FROM restored r WHERE NOT r.of_others));
    END IF;
    RETURN NEW;
END $function$;

CREATE TRIGGER revise_after_restore BEFORE INSERT OR UPDATE OF revision ON standing_decisions FOR EACH ROW EXECUTE FUNCTION revise_after_restore();

CREATE TRIGGER revise_after_restore BEFORE INSERT OR UPDATE OF revision ON received_decisions FOR EACH ROW EXECUTE FUNCTION revise_after_restore();

CREATE TRIGGER revise_after_restore BEFORE INSERT OR UPDATE OF revision ON outgoing_documents FOR EACH ROW EXECUTE FUNCTION revise_after_restore();
