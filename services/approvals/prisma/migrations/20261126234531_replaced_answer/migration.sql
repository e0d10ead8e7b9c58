-- AlterTable
ALTER TABLE "received_approvals" ADD COLUMN     "replaced_id" BIGINT;
