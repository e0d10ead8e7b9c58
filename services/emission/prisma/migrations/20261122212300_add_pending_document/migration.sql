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
