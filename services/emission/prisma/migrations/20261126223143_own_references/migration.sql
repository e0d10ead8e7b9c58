-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "own_reference" TEXT;

-- AlterTable
ALTER TABLE "batch_line" ADD COLUMN     "own_reference" TEXT;
