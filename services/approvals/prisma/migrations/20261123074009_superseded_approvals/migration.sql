-- AlterTable
ALTER TABLE "given_approvals" ADD COLUMN     "superseded_at" TIMESTAMPTZ(3);
