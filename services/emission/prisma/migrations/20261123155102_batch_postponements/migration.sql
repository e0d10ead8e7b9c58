-- AlterTable
ALTER TABLE "batch_line" ADD COLUMN     "postponements" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "batch_created_at_idx" ON "batch"("created_at") WHERE (NOT received);
