-- AlterTable
ALTER TABLE "batch_line" ADD COLUMN     "readings" INTEGER NOT NULL DEFAULT 0;
