ALTER TABLE "cancellation" RENAME COLUMN "asked_at" TO "requested_at";

ALTER TABLE "taxpayer_watch" RENAME COLUMN "certificate_told" TO "notified_certificate";
