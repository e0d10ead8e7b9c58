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

-- CreateIndex
CREATE INDEX "dead_letters_replay_failed_at_idx" ON "dead_letters"("replay", "failed_at");
