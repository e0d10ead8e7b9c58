-- AlterTable
ALTER TABLE "feed_event" ADD COLUMN     "account_id" TEXT,
ADD COLUMN     "taxpayers" TEXT[],
ALTER COLUMN "rnc" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "feed_event_env_account_id_id_idx" ON "feed_event"("env", "account_id", "id") WHERE (account_id IS NOT NULL);
