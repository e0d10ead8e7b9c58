-- CreateIndex
CREATE INDEX "feed_event_env_rnc_type_id_idx" ON "feed_event"("env", "rnc", "type", "id");
