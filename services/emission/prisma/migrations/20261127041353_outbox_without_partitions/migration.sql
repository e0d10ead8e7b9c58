-- DropIndex
DROP INDEX "outbox_partition_position_idx";

-- AlterTable
ALTER TABLE "outbox" DROP COLUMN "partition",
ADD COLUMN     "refused" BOOLEAN NOT NULL DEFAULT false;

-- CreateIndex
CREATE INDEX "outbox_refused_position_idx" ON "outbox"("refused", "position");
