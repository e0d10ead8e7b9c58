-- AlterTable
ALTER TABLE "confirmations" ADD COLUMN     "priority" SMALLINT NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "refused_documents" ADD COLUMN     "content_sha256" TEXT;

-- CreateIndex
CREATE INDEX "confirmations_priority_due_at_idx" ON "confirmations"("priority", "due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "refused_documents_conflict_of_content_sha256_idx" ON "refused_documents"("conflict_of", "content_sha256") WHERE (conflict_of IS NOT NULL);
