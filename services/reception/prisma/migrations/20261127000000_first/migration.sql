-- CreateTable
CREATE TABLE "received_documents" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
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
    "certificate_issuer" TEXT NOT NULL DEFAULT '',
    "certificate_key" TEXT NOT NULL DEFAULT '',
    "certificate_trusted" BOOLEAN,
    "content_sha256" TEXT,
    "canonical" TEXT NOT NULL,
    "observations" JSON NOT NULL,
    "approval_status" TEXT NOT NULL DEFAULT 'pending',
    "approval_datetime" TIMESTAMPTZ(3),
    "approval_revision" BIGINT NOT NULL DEFAULT 0,
    "promoted_at" TIMESTAMPTZ(3),
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
    "certificate_issuer" TEXT NOT NULL DEFAULT '',
    "certificate_key" TEXT NOT NULL DEFAULT '',
    "certificate_trusted" BOOLEAN,
    "content_sha256" TEXT,
    "holder_id" BIGINT,
    "conflict_of" BIGINT,
    "document_id" BIGINT,
    "request_id" TEXT NOT NULL,
    "sender" TEXT,

    CONSTRAINT "refused_documents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "confirmations" (
    "document_id" BIGINT NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "security_code" TEXT NOT NULL,
    "total_amount" DECIMAL NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "checked_at" TIMESTAMPTZ(3),
    "answers" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "priority" SMALLINT NOT NULL DEFAULT 1,
    "due_at" TIMESTAMPTZ(3),

    CONSTRAINT "confirmations_pkey" PRIMARY KEY ("document_id")
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
CREATE TABLE "used_quotas" (
    "scope" TEXT NOT NULL,
    "hour" INTEGER NOT NULL,
    "used" BIGINT NOT NULL,

    CONSTRAINT "used_quotas_pkey" PRIMARY KEY ("scope","hour")
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
CREATE INDEX "received_documents_env_buyer_rnc_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "received_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "received_documents_received_at_env_idx" ON "received_documents"("received_at", "env") WHERE (approval_status = 'pending');

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_issuer_rnc_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "issuer_rnc", "received_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_total_amount_id_received_a_idx" ON "received_documents"("env", "buyer_rnc", "total_amount", "id", "received_at");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_date_issued_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "date_issued", "received_at", "id");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_updated_at_idx" ON "received_documents"("env", "buyer_rnc", "updated_at");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_approval_status_received_a_idx" ON "received_documents"("env", "buyer_rnc", "approval_status", "received_at", "id");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_ecf_type_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "ecf_type", "received_at", "id");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_issuer_rnc_total_amount_id_idx" ON "received_documents"("env", "buyer_rnc", "issuer_rnc", "total_amount", "id", "received_at");

-- CreateIndex
CREATE UNIQUE INDEX "received_documents_env_buyer_rnc_encf_issuer_rnc_key" ON "received_documents"("env", "buyer_rnc", "encf", "issuer_rnc");

-- CreateIndex
CREATE UNIQUE INDEX "refused_documents_document_id_key" ON "refused_documents"("document_id");

-- CreateIndex
CREATE INDEX "refused_documents_conflict_of_content_sha256_idx" ON "refused_documents"("conflict_of", "content_sha256") WHERE (conflict_of IS NOT NULL);

-- CreateIndex
CREATE INDEX "refused_documents_conflict_of_id_idx" ON "refused_documents"("conflict_of", "id") WHERE (conflict_of IS NOT NULL AND xml_path IS NOT NULL);

-- CreateIndex
CREATE INDEX "refused_documents_unkept_idx" ON "refused_documents"("conflict_of", "id" DESC) WHERE (conflict_of IS NOT NULL AND xml_path IS NULL);

-- CreateIndex
CREATE INDEX "refused_documents_env_buyer_rnc_encf_issuer_rnc_id_idx" ON "refused_documents"("env", "buyer_rnc", "encf", "issuer_rnc", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "refused_documents_conflict_of_sha256_key" ON "refused_documents"("conflict_of", "sha256");

-- CreateIndex
CREATE INDEX "confirmations_due_at_idx" ON "confirmations"("due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "confirmations_priority_due_at_idx" ON "confirmations"("priority", "due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "confirmations_env_buyer_rnc_status_document_id_idx" ON "confirmations"("env", "buyer_rnc", "status", "document_id");

-- CreateIndex
CREATE INDEX "taxpayers_account_id_idx" ON "taxpayers"("account_id");

-- CreateIndex
CREATE INDEX "spent_seeds_expires_idx" ON "spent_seeds"("expires");

-- CreateIndex
CREATE INDEX "pending_document_due_at_idx" ON "pending_document"("due_at");

-- CreateIndex
CREATE INDEX "outbox_refused_position_idx" ON "outbox"("refused", "position");

-- CreateIndex
CREATE INDEX "inbox_handled_at_idx" ON "inbox"("handled_at");

-- CreateIndex
CREATE INDEX "dead_letters_replay_failed_at_idx" ON "dead_letters"("replay", "failed_at");

-- AddForeignKey
ALTER TABLE "refused_documents" ADD CONSTRAINT "refused_documents_holder_id_fkey" FOREIGN KEY ("holder_id") REFERENCES "received_documents"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What the schema language cannot express.

CREATE FUNCTION document_number_lock(env text, buyer_rnc text, issuer_rnc text, encf text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(((((((env || ':'::text) || buyer_rnc) || ':'::text) || issuer_rnc) || ':'::text) || encf), (0)::bigint);

CREATE FUNCTION early_decision(of_env text, of_buyer_rnc text, of_issuer_rnc text, of_encf text)
 RETURNS SETOF early_decisions
 LANGUAGE plpgsql
 ROWS 1
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(document_number_lock(of_env, of_buyer_rnc, of_issuer_rnc, of_encf));
  RETURN QUERY SELECT d.* FROM early_decisions d
    WHERE d.env = of_env AND d.buyer_rnc = of_buyer_rnc AND d.issuer_rnc = of_issuer_rnc AND d.encf = of_encf;
END
$function$;

ALTER TABLE "outbox" SET (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

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

CREATE TRIGGER revise_after_restore BEFORE INSERT OR UPDATE OF revision ON received_documents FOR EACH ROW EXECUTE FUNCTION revise_after_restore();
