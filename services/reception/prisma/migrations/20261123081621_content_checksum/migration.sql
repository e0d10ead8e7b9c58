-- AlterTable
ALTER TABLE "received_documents" ADD COLUMN     "content_sha256" TEXT;
