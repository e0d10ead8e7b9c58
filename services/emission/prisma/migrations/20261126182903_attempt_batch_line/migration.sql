-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "batch_line" TEXT;
