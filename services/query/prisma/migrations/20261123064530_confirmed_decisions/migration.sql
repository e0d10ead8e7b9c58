-- AlterTable
ALTER TABLE "buyer_decision" ADD COLUMN     "confirmed" BOOLEAN NOT NULL DEFAULT false;
