-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "modified_attempt" INTEGER;
