-- AlterTable
ALTER TABLE "given_approvals" ADD COLUMN     "settled_at" TIMESTAMPTZ(3),
ADD COLUMN     "settled_note" TEXT;

-- CreateIndex
CREATE INDEX "given_approvals_undecided_idx" ON "given_approvals"("id") WHERE (submitted_at IS NOT NULL AND authority_status IN ('submitted', 'failed'));

-- CreateIndex
CREATE INDEX "given_approvals_settled_idx" ON "given_approvals"("id") WHERE (settled_at IS NOT NULL);
