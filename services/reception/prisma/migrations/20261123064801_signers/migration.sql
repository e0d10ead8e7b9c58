-- AlterTable
ALTER TABLE "received_documents" ADD COLUMN     "certificate_issuer" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "certificate_key" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "certificate_trusted" BOOLEAN;

-- AlterTable
ALTER TABLE "refused_documents" ADD COLUMN     "certificate_issuer" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "certificate_key" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "certificate_trusted" BOOLEAN;

-- CreateTable
CREATE TABLE "known_signers" (
    "env" TEXT NOT NULL,
    "rnc" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "holder" TEXT,
    "trusted" BOOLEAN NOT NULL,
    "first_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_signers_pkey" PRIMARY KEY ("env","rnc","key")
);
