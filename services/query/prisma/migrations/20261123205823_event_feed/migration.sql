-- CreateTable
CREATE TABLE "feed_event" (
    "id" BIGSERIAL NOT NULL,
    "mark" TEXT NOT NULL DEFAULT substr(md5(gen_random_uuid()::text), 1, 8),
    "occurrence" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "rnc" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "subject" JSON NOT NULL,
    "data" JSON NOT NULL,
    "kept_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "feed_event_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "feed_event_occurrence_key" ON "feed_event"("occurrence");

-- CreateIndex
CREATE INDEX "feed_event_env_rnc_id_idx" ON "feed_event"("env", "rnc", "id");

-- The beginning of the feed, which no answer shows: a reader of an empty feed goes on from here.
INSERT INTO "feed_event" ("occurrence", "env", "rnc", "type", "time", "subject", "data", "kept_at")
VALUES ('feed.begun', '', '', 'feed.begun', now(), '{}', '{}', now());
