-- CreateIndex
CREATE INDEX "batch_finished_at_idx" ON "batch"("finished_at") WHERE (finished_at IS NOT NULL);
