ALTER TABLE "submission" RENAME COLUMN "asked_at" TO "queried_at";
