-- CreateTable
CREATE TABLE "certification_run" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "run" INTEGER NOT NULL,

    CONSTRAINT "certification_run_pkey" PRIMARY KEY ("env","issuer_rnc")
);
