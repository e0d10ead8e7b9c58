-- AlterTable
ALTER TABLE "batch" ADD COLUMN     "may_wait" BOOLEAN NOT NULL DEFAULT false;
