-- DropTable
DROP TABLE "range_notice";

-- DropTable
DROP TABLE "taxpayer_watch";

-- CreateTable
CREATE TABLE "notice" (
    "issuer_rnc" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "of" TEXT NOT NULL,
    "cause" TEXT NOT NULL,

    CONSTRAINT "notice_pkey" PRIMARY KEY ("issuer_rnc","type","env","of","cause")
);
