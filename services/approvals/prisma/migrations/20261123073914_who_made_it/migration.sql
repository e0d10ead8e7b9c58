-- AlterTable
ALTER TABLE "given_approvals" ADD COLUMN     "created_by" TEXT;
