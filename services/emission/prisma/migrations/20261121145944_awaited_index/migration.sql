-- CreateIndex
CREATE INDEX "attempt_committed_at_idx" ON "attempt"("committed_at") WHERE (state IN ('processing', 'not-found') AND next_action_at IS NULL);
