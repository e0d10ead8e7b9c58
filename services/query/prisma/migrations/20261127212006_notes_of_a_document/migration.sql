-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_modified_encf_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "modified_encf", "created_at", "id", "encf") WHERE (listed AND modified_encf IS NOT NULL);
