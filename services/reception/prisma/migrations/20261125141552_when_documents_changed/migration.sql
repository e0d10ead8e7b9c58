-- AlterTable
ALTER TABLE "received_documents" ADD COLUMN     "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_updated_at_idx" ON "received_documents"("env", "buyer_rnc", "updated_at");
