-- CreateTable
CREATE TABLE "cancellation" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "reason" TEXT,
    "total" BIGINT NOT NULL,
    "generated_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "xml_path" TEXT NOT NULL,
    "xml_sha256" TEXT NOT NULL,
    "lines" JSON NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "state" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3),
    "response" TEXT,
    "refused" JSON NOT NULL DEFAULT '[]',
    "lost_sends" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "next_action_at" TIMESTAMPTZ(3),
    "alarm" TEXT,

    CONSTRAINT "cancellation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "cancelled_range" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "first_number" BIGINT NOT NULL,
    "last_number" BIGINT NOT NULL,
    "cancellation_id" BIGINT NOT NULL,

    CONSTRAINT "cancelled_range_pkey" PRIMARY KEY ("env","issuer_rnc","ecf_type","first_number")
);

-- CreateIndex
CREATE INDEX "cancellation_env_issuer_rnc_id_idx" ON "cancellation"("env", "issuer_rnc", "id");

-- CreateIndex
CREATE INDEX "cancellation_content_hash_idx" ON "cancellation"("content_hash") WHERE (state = 'local');

-- CreateIndex
CREATE INDEX "cancellation_next_action_at_idx" ON "cancellation"("next_action_at") WHERE (next_action_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "cancelled_range_cancellation_id_idx" ON "cancelled_range"("cancellation_id");

-- A number that is cancelled takes no attempt. Whoever takes numbers of an issuer holds a shared lock until the commit;
-- a cancellation holds the exclusive one while it looks which of its numbers are taken and until its ranges are committed.
-- The function is volatile: its query sees what was committed while it waited for the lock.
CREATE FUNCTION skip_cancelled_number() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    sequence_number BIGINT := substr(NEW.encf, 4)::bigint;
    last_cancelled BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('numbers:' || NEW.env || ':' || NEW.issuer_rnc, 0));
    SELECT last_number INTO last_cancelled FROM cancelled_range
     WHERE env = NEW.env AND issuer_rnc = NEW.issuer_rnc AND ecf_type = NEW.ecf_type AND first_number <= sequence_number
     ORDER BY first_number DESC LIMIT 1;
    IF last_cancelled >= sequence_number THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER skip_cancelled_number BEFORE INSERT OR UPDATE OF attempt ON emission
    FOR EACH ROW EXECUTE FUNCTION skip_cancelled_number();
