-- AlterTable
ALTER TABLE "received_approvals" ADD COLUMN     "content_sha256" TEXT;
