-- CreateTable
CREATE TABLE "taxpayer_watch" (
    "rnc" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),
    "certificate_told" TEXT,

    CONSTRAINT "taxpayer_watch_pkey" PRIMARY KEY ("rnc")
);

-- CreateTable
CREATE TABLE "range_notice" (
    "issuer_rnc" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "first_encf" TEXT NOT NULL,
    "low_up_to" TEXT,
    "expires" TEXT,

    CONSTRAINT "range_notice_pkey" PRIMARY KEY ("issuer_rnc","env","ecf_type","first_encf")
);

-- CreateIndex
CREATE INDEX "taxpayer_watch_due_at_idx" ON "taxpayer_watch"("due_at");
