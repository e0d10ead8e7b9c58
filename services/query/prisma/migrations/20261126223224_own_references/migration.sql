-- AlterTable
ALTER TABLE "invoice" ADD COLUMN     "reference" TEXT;

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_reference_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "reference", "created_at", "id", "encf") WHERE (listed AND reference IS NOT NULL);
