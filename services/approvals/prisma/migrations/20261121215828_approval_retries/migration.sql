-- AlterTable
ALTER TABLE "given_approvals" ADD COLUMN     "issuer_retried_at" TIMESTAMPTZ(3),
ADD COLUMN     "issuer_retried_tries" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "given_approvals_undelivered_idx" ON "given_approvals"("id") WHERE (issuer_status = ANY (ARRAY['no_receiver'::text, 'refused'::text, 'failed'::text]));
