-- CreateIndex
CREATE INDEX "recent_change_at_idx" ON "recent_change"("at");
