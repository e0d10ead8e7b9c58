-- DropIndex
DROP INDEX "cancellation_env_issuer_rnc_id_idx";

-- CreateIndex
CREATE INDEX "cancellation_env_issuer_rnc_created_at_id_idx" ON "cancellation"("env", "issuer_rnc", "created_at", "id");
