-- AlterTable
ALTER TABLE "rebuild" ADD COLUMN     "progress_at" TIMESTAMPTZ(3);
