-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_total_amount_id_created_at_encf_idx" ON "invoice"("env", "issuer_rnc", "total_amount", "id", "created_at", "encf") WHERE (listed);
