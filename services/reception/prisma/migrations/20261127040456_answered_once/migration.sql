-- AlterTable
ALTER TABLE "received_documents" DROP COLUMN "answer_due_at";
