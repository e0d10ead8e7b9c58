-- CreateIndex
CREATE INDEX "attempt_track_id_idx" ON "attempt"("track_id") WHERE (track_id IS NOT NULL);
