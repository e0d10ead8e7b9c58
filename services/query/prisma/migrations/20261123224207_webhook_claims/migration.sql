-- DropIndex
DROP INDEX "webhook_delivery_webhook_id_due_at_idx";

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_due_at_event_id_idx" ON "webhook_delivery"("webhook_id", "due_at", "event_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_idx" ON "webhook_delivery"("webhook_id") WHERE (leased_until IS NOT NULL);
