-- AlterTable
ALTER TABLE "batch" ADD COLUMN     "refuse_warnings" BOOLEAN NOT NULL DEFAULT false;
