-- DropTable
DROP TABLE "account";

-- DropTable
DROP TABLE "taxpayer";

-- CreateTable
CREATE TABLE "taxpayers" (
    "rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,
    "state" JSON NOT NULL,

    CONSTRAINT "taxpayers_pkey" PRIMARY KEY ("rnc")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "taxpayers_account_id_idx" ON "taxpayers"("account_id");
