-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "needs_certificate" BOOLEAN NOT NULL DEFAULT false;

-- CreateIndex
CREATE INDEX "deliveries_issuer_rnc_idx" ON "deliveries"("issuer_rnc") WHERE (needs_certificate);
