-- CreateIndex
CREATE INDEX "confirmations_env_buyer_rnc_status_document_id_idx" ON "confirmations"("env", "buyer_rnc", "status", "document_id");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_approval_status_received_a_idx" ON "received_documents"("env", "buyer_rnc", "approval_status", "received_at", "id");

-- CreateIndex
CREATE INDEX "received_documents_env_buyer_rnc_ecf_type_received_at_id_idx" ON "received_documents"("env", "buyer_rnc", "ecf_type", "received_at", "id");
