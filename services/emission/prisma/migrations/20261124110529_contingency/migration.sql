-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "contingency_since" TIMESTAMPTZ(3),
ADD COLUMN     "deadline" TIMESTAMPTZ(3),
ADD COLUMN     "queued_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "contingency" (
    "env" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "returned_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "rate" DOUBLE PRECISION NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "contingency_pkey" PRIMARY KEY ("env","route")
);

-- CreateIndex
CREATE INDEX "attempt_queued_at_idx" ON "attempt"("queued_at") WHERE (queued_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_contingency_since_idx" ON "attempt"("contingency_since") WHERE (contingency_since IS NOT NULL AND deadline IS NULL);
