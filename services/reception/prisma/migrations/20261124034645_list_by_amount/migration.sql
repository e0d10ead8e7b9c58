-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_total_amount_id_received_a_idx" ON "received_documents"("env", "buyer_rnc", "total_amount", "id", "received_at");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_issuer_rnc_total_amount_id_idx" ON "received_documents"("env", "buyer_rnc", "issuer_rnc", "total_amount", "id", "received_at");
