-- AlterTable
ALTER TABLE "batch" ADD COLUMN     "content_hash" TEXT;
