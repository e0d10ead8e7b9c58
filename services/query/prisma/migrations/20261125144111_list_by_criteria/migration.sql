-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_buyer_rnc_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "buyer_rnc", "created_at", "id", "encf") WHERE (listed AND buyer_rnc IS NOT NULL);

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_status_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "status", "created_at", "id", "encf") WHERE (listed AND status <> 'Aceptado');

-- CreateIndex
CREATE INDEX "invoice_env_issuer_rnc_ecf_type_created_at_id_encf_idx" ON "invoice"("env", "issuer_rnc", "ecf_type", "created_at", "id", "encf") WHERE (listed);
