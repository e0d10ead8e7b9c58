-- AlterTable
ALTER TABLE "invoice" ADD COLUMN     "request_id" TEXT,
ADD COLUMN     "submitted_by" TEXT;
