-- CreateTable
CREATE TABLE "refusal_budgets" (
    "scope" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "used" BIGINT NOT NULL,

    CONSTRAINT "refusal_budgets_pkey" PRIMARY KEY ("scope","period")
);
