-- AlterTable
ALTER TABLE "received_documents" ADD COLUMN     "promoted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "refused_documents" ADD COLUMN     "document_id" BIGINT;

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
    "due_at" TIMESTAMPTZ(3),

    CONSTRAINT "confirmations_pkey" PRIMARY KEY ("document_id")
);

-- CreateIndex
CREATE INDEX "confirmations_due_at_idx" ON "confirmations"("due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "refused_documents_document_id_key" ON "refused_documents"("document_id");

-- Competing documents of earlier versions get an id among those of received documents.
UPDATE "refused_documents" SET "document_id" = nextval('received_documents_id_seq') WHERE "conflict_of" IS NOT NULL;
