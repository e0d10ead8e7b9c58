-- AlterTable
ALTER TABLE "webhook" ADD COLUMN     "paused_until" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_due_at_idx" ON "webhook_delivery"("webhook_id", "due_at") WHERE (tries = 1);
