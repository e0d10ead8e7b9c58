-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_date_issued_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "date_issued", "received_at", "id");
