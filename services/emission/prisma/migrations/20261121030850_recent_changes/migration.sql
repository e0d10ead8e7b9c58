-- CreateTable
-- Unlogged: nothing waits for the disk, and what a crash empties was told through the outbox too.
CREATE UNLOGGED TABLE "recent_change" (
    "issuer" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "xid" BIGINT NOT NULL DEFAULT txid_current(),
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- CreateIndex
CREATE INDEX "recent_change_issuer_xid_idx" ON "recent_change"("issuer", "xid");
