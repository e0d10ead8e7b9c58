-- DropIndex
DROP INDEX "received_approvals_env_issuer_rnc_encf_key";

-- AlterTable
ALTER TABLE "received_acknowledgements" ADD COLUMN     "certificate_fingerprint" TEXT,
ADD COLUMN     "certificate_holder" TEXT,
ADD COLUMN     "certificate_issuer" TEXT,
ADD COLUMN     "certificate_key" TEXT,
ADD COLUMN     "certificate_serial" TEXT,
ADD COLUMN     "certificate_subject" TEXT,
ADD COLUMN     "certificate_trusted" BOOLEAN,
ADD COLUMN     "receiver" TEXT;

-- AlterTable
ALTER TABLE "received_approvals" ADD COLUMN     "certificate_issuer" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "certificate_key" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "certificate_trusted" BOOLEAN,
ADD COLUMN     "confirmed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "ruled_at" TIMESTAMPTZ(3),
ADD COLUMN     "ruled_counts" BOOLEAN,
ADD COLUMN     "ruled_reason" TEXT;

-- CreateTable
CREATE TABLE "received_decisions" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "buyer_rnc" TEXT NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 0,
    "answer_id" BIGINT,

    CONSTRAINT "received_decisions_pkey" PRIMARY KEY ("id")
);

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

-- CreateIndex
CREATE UNIQUE INDEX "received_decisions_env_issuer_rnc_encf_key" ON "received_decisions"("env", "issuer_rnc", "encf");

-- CreateIndex
CREATE INDEX "received_approvals_unconfirmed_idx" ON "received_approvals"("env", "buyer_rnc") WHERE (NOT confirmed);

-- CreateIndex
CREATE UNIQUE INDEX "received_approvals_env_issuer_rnc_encf_xml_sha256_key" ON "received_approvals"("env", "issuer_rnc", "encf", "xml_sha256");

-- AddForeignKey
ALTER TABLE "received_decisions" ADD CONSTRAINT "received_decisions_answer_id_fkey" FOREIGN KEY ("answer_id") REFERENCES "received_approvals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Until now the one answer of an e-CF counted, and its event had revision 1.
INSERT INTO "received_decisions" ("env", "issuer_rnc", "encf", "buyer_rnc", "revision", "answer_id")
SELECT "env", "issuer_rnc", "encf", "buyer_rnc", 1, "id" FROM "received_approvals" ORDER BY "id";
