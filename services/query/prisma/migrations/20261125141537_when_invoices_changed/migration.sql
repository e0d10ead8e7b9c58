-- CreateTable
CREATE TABLE "invoice_change" (
    "env" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invoice_change_pkey" PRIMARY KEY ("env","encf","issuer_rnc")
);

-- CreateIndex
CREATE INDEX "invoice_change_env_issuer_rnc_updated_at_encf_idx" ON "invoice_change"("env", "issuer_rnc", "updated_at", "encf");

-- When the present documents changed is not known: they count as changed now.
INSERT INTO "invoice_change" SELECT "env", "encf", "issuer_rnc", "revision", now() FROM "invoice";
