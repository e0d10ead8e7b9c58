-- The replica has the same tables in every service.
ALTER TABLE "taxpayer" RENAME TO "taxpayers";
ALTER TABLE "taxpayers" RENAME CONSTRAINT "taxpayer_pkey" TO "taxpayers_pkey";
ALTER INDEX "taxpayer_account_id_idx" RENAME TO "taxpayers_account_id_idx";
ALTER TABLE "account" RENAME TO "accounts";
ALTER TABLE "accounts" RENAME COLUMN "account_id" TO "id";
ALTER TABLE "accounts" RENAME CONSTRAINT "account_pkey" TO "accounts_pkey";
