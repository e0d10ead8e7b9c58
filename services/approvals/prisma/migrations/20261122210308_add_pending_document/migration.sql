-- CreateTable
CREATE TABLE "pending_document" (
    "path" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "pending_document_pkey" PRIMARY KEY ("path","sha256")
);

-- CreateIndex
CREATE INDEX "pending_document_due_at_idx" ON "pending_document"("due_at");

-- Bytes that waited in the rows of acknowledgements
INSERT INTO "pending_document" ("path", "sha256", "bytes")
SELECT "xml_path", "xml_sha256", "held" FROM "received_acknowledgements" WHERE "held" IS NOT NULL
ON CONFLICT DO NOTHING;

-- DropIndex
DROP INDEX "received_acknowledgements_held_idx";

-- AlterTable
ALTER TABLE "received_acknowledgements" DROP COLUMN "held";
