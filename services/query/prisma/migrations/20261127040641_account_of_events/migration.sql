-- DropIndex
DROP INDEX "feed_event_env_account_id_id_idx";

-- AlterTable
ALTER TABLE "webhook" DROP COLUMN "collected";

-- CreateIndex
CREATE INDEX "feed_event_env_account_id_id_idx" ON "feed_event"("env", "account_id", "id") WHERE (rnc IS NULL);

-- CreateIndex
CREATE INDEX "webhook_delivery_due_at_idx" ON "webhook_delivery"("due_at");
