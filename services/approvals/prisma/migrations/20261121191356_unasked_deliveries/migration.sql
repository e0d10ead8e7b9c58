-- CreateIndex
CREATE INDEX "deliveries_unasked_idx" ON "deliveries"("env", "buyer_rnc", "created_at") WHERE (status = 'no_receiver'::text) AND (tries = 0);
