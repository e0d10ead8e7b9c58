-- CreateTable
CREATE TABLE "webhook" (
    "id" UUID NOT NULL,
    "account_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "types" TEXT[],
    "environments" TEXT[],
    "active" BOOLEAN NOT NULL DEFAULT true,
    "secret" BYTEA NOT NULL,
    "former_secret" BYTEA,
    "former_until" TIMESTAMPTZ(3),
    "collected" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_success_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "dropped" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "webhook_id" UUID NOT NULL,
    "event_id" BIGINT NOT NULL,
    "subject" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "give_up_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("webhook_id","event_id")
);

-- CreateTable
CREATE TABLE "instances" (
    "id" UUID NOT NULL,
    "key_ids" TEXT[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instances_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_account_id_idx" ON "webhook"("account_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_subject_event_id_idx" ON "webhook_delivery"("webhook_id", "subject", "event_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_due_at_idx" ON "webhook_delivery"("webhook_id", "due_at");

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;
