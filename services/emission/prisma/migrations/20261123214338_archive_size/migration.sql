-- CreateTable
CREATE TABLE "archive_size" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "archive_size_pkey" PRIMARY KEY ("id")
);

-- Documents that were archived before are not counted.
INSERT INTO "archive_size" ("bytes") VALUES (0);
