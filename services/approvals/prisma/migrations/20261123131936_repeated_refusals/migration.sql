-- AlterTable
ALTER TABLE "refused_approvals" ADD COLUMN     "repeats" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "refused_approvals_env_issuer_rnc_encf_sha256_idx" ON "refused_approvals"("env", "issuer_rnc", "encf", "sha256");
