-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "request_id" TEXT,
ADD COLUMN     "submitted_by" TEXT;

-- AlterTable
ALTER TABLE "cancellation" ADD COLUMN     "created_by" TEXT;
