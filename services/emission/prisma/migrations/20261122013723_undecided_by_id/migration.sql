-- DropIndex
DROP INDEX "attempt_committed_at_idx";

-- CreateIndex
CREATE INDEX "attempt_emission_id_idx" ON "attempt"("emission_id") WHERE (state = ANY (ARRAY['processing'::text, 'not-found'::text]));
