-- CreateTable
CREATE TABLE "submission" (
    "env" TEXT NOT NULL,
    "track_id" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "submitted_at" TIMESTAMPTZ(3) NOT NULL,
    "invoice_revision" BIGINT NOT NULL,
    "revision" INTEGER NOT NULL,
    "facts" JSONB NOT NULL,
    "final" BOOLEAN NOT NULL,
    "queried_at" TIMESTAMPTZ(3),
    "traceparent" TEXT,

    CONSTRAINT "submission_pkey" PRIMARY KEY ("env","track_id")
);

-- CreateTable
CREATE TABLE "poll" (
    "env" TEXT NOT NULL,
    "track_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "claim" UUID,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "alarmed" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "poll_pkey" PRIMARY KEY ("env","track_id")
);

-- CreateTable
CREATE TABLE "pace" (
    "env" TEXT NOT NULL,
    "ready_at" DOUBLE PRECISION NOT NULL,
    "paused_until" TIMESTAMPTZ(3),

    CONSTRAINT "pace_pkey" PRIMARY KEY ("env")
);

-- CreateTable
CREATE TABLE "outbox" (
    "position" BIGSERIAL NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "event" JSON NOT NULL,
    "refused" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "inbox" (
    "consumer_group" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "handled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer_group","event_id")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "consumer_group" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "topic" TEXT NOT NULL,
    "event" JSON NOT NULL,
    "reason" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "failed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "replay" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("consumer_group","event_id")
);

-- CreateTable
CREATE TABLE "restored" (
    "of_others" BOOLEAN NOT NULL DEFAULT false,
    "restored_at" TIMESTAMPTZ(3) NOT NULL,
    "backup_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "restored_pkey" PRIMARY KEY ("of_others")
);

-- CreateIndex
CREATE INDEX "poll_env_due_at_idx" ON "poll"("env", "due_at");

-- CreateIndex
CREATE INDEX "outbox_refused_position_idx" ON "outbox"("refused", "position");

-- CreateIndex
CREATE INDEX "inbox_handled_at_idx" ON "inbox"("handled_at");

-- CreateIndex
CREATE INDEX "dead_letters_replay_failed_at_idx" ON "dead_letters"("replay", "failed_at");

-- AddForeignKey
ALTER TABLE "poll" ADD CONSTRAINT "poll_env_track_id_fkey" FOREIGN KEY ("env", "track_id") REFERENCES "submission"("env", "track_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the schema language cannot express.

ALTER TABLE "outbox" SET (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

ALTER TABLE "poll" SET (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

INSERT INTO "pace" ("env", "ready_at") VALUES ('TesteCF', 0), ('CerteCF', 0), ('eCF', 0);
