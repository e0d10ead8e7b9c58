-- CreateTable
CREATE TABLE "emission" (
    "id" BIGINT NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "emission_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "attempt" (
    "emission_id" BIGINT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "revision" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "facts" JSON NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,
    "rfce_path" TEXT,
    "rfce_sha256" TEXT,
    "signed_at" TIMESTAMPTZ(3) NOT NULL,
    "committed_at" TIMESTAMPTZ(3) NOT NULL,
    "signer_fingerprint" TEXT,
    "has_own_certificate" BOOLEAN NOT NULL,
    "track_id" TEXT,
    "track_id_adopted" BOOLEAN NOT NULL,
    "verdict" JSON NOT NULL,
    "submitted_at" TIMESTAMPTZ(3),
    "lost_sends" INTEGER NOT NULL,
    "transient_refusals" INTEGER NOT NULL,
    "not_found_since" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL,
    "next_action_at" TIMESTAMPTZ(3),
    "owner" TEXT,
    "modifies" TEXT,
    "alarm" TEXT,
    "past" JSON NOT NULL,

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("emission_id","attempt")
);

-- CreateTable
CREATE TABLE "exchange" (
    "emission_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "attempt" INTEGER NOT NULL,
    "operation" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "outcome" TEXT NOT NULL,
    "http_status" INTEGER,
    "content_type" TEXT,
    "body" TEXT,

    CONSTRAINT "exchange_pkey" PRIMARY KEY ("emission_id","id")
);

-- CreateTable
CREATE TABLE "sealed_certificate" (
    "emission_id" BIGINT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "sealed" BYTEA NOT NULL,

    CONSTRAINT "sealed_certificate_pkey" PRIMARY KEY ("emission_id","attempt")
);

-- CreateTable
CREATE TABLE "taxpayer" (
    "rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,
    "state" JSON NOT NULL,

    CONSTRAINT "taxpayer_pkey" PRIMARY KEY ("rnc")
);

-- CreateTable
CREATE TABLE "account" (
    "account_id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "account_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "instance" (
    "id" TEXT NOT NULL,
    "alive_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outbox" (
    "position" BIGSERIAL NOT NULL,
    "partition" SMALLINT NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "event" JSON NOT NULL,
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

-- CreateIndex
CREATE UNIQUE INDEX "emission_env_issuer_rnc_encf_key" ON "emission"("env", "issuer_rnc", "encf");

-- CreateIndex
CREATE INDEX "attempt_next_action_at_idx" ON "attempt"("next_action_at") WHERE (next_action_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_modifies_idx" ON "attempt"("modifies") WHERE (modifies IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_alarm_idx" ON "attempt"("alarm") WHERE (alarm IS NOT NULL);

-- CreateIndex
CREATE INDEX "taxpayer_account_id_idx" ON "taxpayer"("account_id");

-- CreateIndex
CREATE INDEX "outbox_partition_position_idx" ON "outbox"("partition", "position");

-- CreateIndex
CREATE INDEX "inbox_handled_at_idx" ON "inbox"("handled_at");

-- AddForeignKey
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_emission_id_fkey" FOREIGN KEY ("emission_id") REFERENCES "emission"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Ids are taken in blocks of a hundred, so that an event can carry the id before its row is written.
CREATE SEQUENCE "emission_id_block" AS BIGINT INCREMENT BY 100 START WITH 1;
