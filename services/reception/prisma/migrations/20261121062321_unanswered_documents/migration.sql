-- CreateIndex
CREATE INDEX "received_documents_received_at_env_idx" ON "received_documents"("received_at", "env") WHERE (approval_status = 'pending');
