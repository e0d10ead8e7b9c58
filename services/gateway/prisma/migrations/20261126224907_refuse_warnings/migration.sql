-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "refuse_warnings" BOOLEAN NOT NULL DEFAULT false;
