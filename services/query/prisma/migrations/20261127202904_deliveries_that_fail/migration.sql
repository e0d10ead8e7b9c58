-- CreateIndex
CREATE INDEX "delivery_env_issuer_rnc_status_encf_idx" ON "delivery"("env", "issuer_rnc", "status", "encf") WHERE (status IN ('no_receiver', 'refused', 'unacknowledged', 'failed'));
