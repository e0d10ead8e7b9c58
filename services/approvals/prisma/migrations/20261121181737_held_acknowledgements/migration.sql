-- AlterTable
ALTER TABLE "received_acknowledgements" ADD COLUMN     "held" BYTEA;

-- CreateIndex
CREATE INDEX "received_acknowledgements_held_idx" ON "received_acknowledgements"("id") WHERE (held IS NOT NULL);
