-- CreateTable
CREATE TABLE "stored_bytes" (
    "scope" TEXT NOT NULL,
    "hour" BIGINT NOT NULL,
    "buckets" BIGINT[],

    CONSTRAINT "stored_bytes_pkey" PRIMARY KEY ("scope")
);
