-- DropIndex
DROP INDEX "given_approvals_authority_due_at_idx";

-- DropIndex
DROP INDEX "given_approvals_issuer_due_at_idx";

-- DropIndex
DROP INDEX "given_approvals_undecided_idx";

-- DropIndex
DROP INDEX "given_approvals_undelivered_idx";

-- AlterTable
ALTER TABLE "given_approvals" DROP COLUMN "authority_due_at",
DROP COLUMN "authority_response",
DROP COLUMN "authority_sent_at",
DROP COLUMN "authority_status",
DROP COLUMN "authority_tries",
DROP COLUMN "issuer_due_at",
DROP COLUMN "issuer_error",
DROP COLUMN "issuer_retried_at",
DROP COLUMN "issuer_retried_tries",
DROP COLUMN "issuer_sent_at",
DROP COLUMN "issuer_status",
DROP COLUMN "issuer_tries";

-- DropTable
DROP TABLE "deliveries";

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

-- AddForeignKey
ALTER TABLE "outgoing_documents" ADD CONSTRAINT "outgoing_documents_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "given_approvals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
