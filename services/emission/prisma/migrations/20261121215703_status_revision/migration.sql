-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "status_revision" INTEGER NOT NULL DEFAULT 0;
