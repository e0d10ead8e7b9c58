-- CreateTable
CREATE TABLE "emission" (
    "id" BIGSERIAL NOT NULL,
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
    "submitted_by" TEXT,
    "request_id" TEXT,
    "own_reference" TEXT,
    "batch_line" TEXT,
    "has_own_certificate" BOOLEAN NOT NULL,
    "track_id" TEXT,
    "track_id_adopted" BOOLEAN NOT NULL,
    "status_revision" INTEGER NOT NULL DEFAULT 0,
    "verdict" JSON NOT NULL,
    "submitted_at" TIMESTAMPTZ(3),
    "lost_sends" INTEGER NOT NULL,
    "transient_refusals" INTEGER NOT NULL,
    "not_found_since" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL,
    "next_action_at" TIMESTAMPTZ(3),
    "owner" TEXT,
    "modifies" TEXT,
    "modified_attempt" INTEGER,
    "alarm" TEXT,
    "past" JSON NOT NULL,
    "contingency_since" TIMESTAMPTZ(3),
    "deadline" TIMESTAMPTZ(3),
    "queued_at" TIMESTAMPTZ(3),

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("emission_id","attempt")
) PARTITION BY RANGE ("emission_id");

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
) PARTITION BY RANGE ("emission_id");

-- CreateTable
CREATE TABLE "sealed_certificate" (
    "emission_id" BIGINT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "sealed" BYTEA NOT NULL,

    CONSTRAINT "sealed_certificate_pkey" PRIMARY KEY ("emission_id","attempt")
);

-- CreateTable
CREATE TABLE "taxpayers" (
    "rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,
    "state" JSON NOT NULL,

    CONSTRAINT "taxpayers_pkey" PRIMARY KEY ("rnc")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pending_document" (
    "path" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "pending_document_pkey" PRIMARY KEY ("path","sha256")
);

-- CreateTable
CREATE TABLE "archive_size" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "archive_size_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "damaged_document" (
    "path" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "damaged_document_pkey" PRIMARY KEY ("path","sha256")
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
CREATE TABLE "cancellation" (
    "id" BIGSERIAL NOT NULL,
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_by" TEXT,
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
    "requested_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "response" TEXT,
    "refused" JSON NOT NULL DEFAULT '[]',
    "lost_sends" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "next_action_at" TIMESTAMPTZ(3),
    "alarm" TEXT,
    "settled_at" TIMESTAMPTZ(3),
    "settled_note" TEXT,

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

-- CreateTable
CREATE TABLE "certification_run" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "run" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "certification_run_pkey" PRIMARY KEY ("env","issuer_rnc","run")
);

-- CreateTable
CREATE TABLE "number_position" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "first_number" BIGINT NOT NULL,
    "next_number" BIGINT NOT NULL,

    CONSTRAINT "number_position_pkey" PRIMARY KEY ("env","issuer_rnc","ecf_type","first_number")
);

-- CreateTable
CREATE TABLE "reserved_number" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "token" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "account_id" TEXT NOT NULL,
    "idempotency_key" TEXT,

    CONSTRAINT "reserved_number_pkey" PRIMARY KEY ("env","issuer_rnc","encf")
);

-- CreateTable
CREATE TABLE "submission_key" (
    "account_id" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "emission_id" BIGINT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "submission_key_pkey" PRIMARY KEY ("account_id","env","idempotency_key")
);

-- CreateTable
CREATE TABLE "notice" (
    "issuer_rnc" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "of" TEXT NOT NULL,
    "cause" TEXT NOT NULL,

    CONSTRAINT "notice_pkey" PRIMARY KEY ("issuer_rnc","type","env","of","cause")
);

-- CreateTable
CREATE TABLE "batch" (
    "id" BIGSERIAL NOT NULL,
    "account_id" TEXT NOT NULL,
    "env" TEXT NOT NULL,
    "idempotency_key" TEXT,
    "sha256" TEXT NOT NULL,
    "content_hash" TEXT,
    "validate" BOOLEAN NOT NULL,
    "may_wait" BOOLEAN NOT NULL DEFAULT false,
    "refuse_warnings" BOOLEAN NOT NULL DEFAULT false,
    "total" INTEGER NOT NULL,
    "caller" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "received" BOOLEAN NOT NULL DEFAULT false,
    "cancelled_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "counts" JSON,
    "due_at" TIMESTAMPTZ(3),

    CONSTRAINT "batch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "batch_line" (
    "batch_id" BIGINT NOT NULL,
    "line" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "document" BYTEA,
    "encf" TEXT,
    "issuer_rnc" TEXT,
    "own_reference" TEXT,
    "same_line" INTEGER,
    "reference_line" INTEGER,
    "due_at" TIMESTAMPTZ(3),
    "postponements" INTEGER NOT NULL DEFAULT 0,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "readings" INTEGER NOT NULL DEFAULT 0,
    "leased" BOOLEAN NOT NULL DEFAULT false,
    "begun" BOOLEAN NOT NULL DEFAULT false,
    "outcome" TEXT,
    "emission_id" BIGINT,
    "attempt" INTEGER,
    "result" JSON,

    CONSTRAINT "batch_line_pkey" PRIMARY KEY ("batch_id","line")
);

-- CreateTable
CREATE TABLE "contingency" (
    "env" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "returned_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "rate" DOUBLE PRECISION NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "contingency_pkey" PRIMARY KEY ("env","route")
);

-- CreateTable
CREATE TABLE "instances" (
    "id" UUID NOT NULL,
    "key_ids" TEXT[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instances_pkey" PRIMARY KEY ("id")
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

-- CreateTable
CREATE TABLE "lost_number" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "encf" TEXT NOT NULL,
    "total_amount" DECIMAL(18,2),
    "buyer" TEXT,
    "issued_on" DATE,

    CONSTRAINT "lost_number_pkey" PRIMARY KEY ("env","issuer_rnc","ecf_type","encf")
);

-- CreateTable
CREATE TABLE "compared_series" (
    "env" TEXT NOT NULL,
    "issuer_rnc" TEXT NOT NULL,
    "ecf_type" TEXT NOT NULL,
    "first_number" BIGINT NOT NULL,
    "compared_at" TIMESTAMPTZ(3) NOT NULL,
    "sales_compared" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "compared_series_pkey" PRIMARY KEY ("env","issuer_rnc","ecf_type","first_number")
);

-- CreateIndex
CREATE UNIQUE INDEX "emission_env_issuer_rnc_encf_key" ON "emission"("env", "issuer_rnc", "encf");

-- CreateIndex
CREATE INDEX "attempt_next_action_at_idx" ON "attempt"("next_action_at") WHERE (next_action_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_track_id_idx" ON "attempt"("track_id") WHERE (track_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_modifies_idx" ON "attempt"("modifies") WHERE (modifies IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_alarm_idx" ON "attempt"("alarm") WHERE (alarm IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_queued_at_idx" ON "attempt"("queued_at") WHERE (queued_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "attempt_contingency_since_idx" ON "attempt"("contingency_since") WHERE (contingency_since IS NOT NULL AND deadline IS NULL);

-- CreateIndex
CREATE INDEX "attempt_emission_id_idx" ON "attempt"("emission_id") WHERE (state = ANY (ARRAY['processing'::text, 'not-found'::text]));

-- CreateIndex
CREATE INDEX "taxpayers_account_id_idx" ON "taxpayers"("account_id");

-- CreateIndex
CREATE INDEX "pending_document_due_at_idx" ON "pending_document"("due_at");

-- CreateIndex
CREATE INDEX "outbox_refused_position_idx" ON "outbox"("refused", "position");

-- CreateIndex
CREATE INDEX "cancellation_env_issuer_rnc_created_at_id_idx" ON "cancellation"("env", "issuer_rnc", "created_at", "id");

-- CreateIndex
CREATE INDEX "cancellation_content_hash_idx" ON "cancellation"("content_hash") WHERE (state = 'local');

-- CreateIndex
CREATE INDEX "cancellation_next_action_at_idx" ON "cancellation"("next_action_at") WHERE (next_action_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "cancelled_range_cancellation_id_idx" ON "cancelled_range"("cancellation_id");

-- CreateIndex
CREATE UNIQUE INDEX "reserved_number_token_key" ON "reserved_number"("token");

-- CreateIndex
CREATE UNIQUE INDEX "reserved_number_account_id_env_idempotency_key_key" ON "reserved_number"("account_id", "env", "idempotency_key");

-- CreateIndex
CREATE INDEX "submission_key_created_at_idx" ON "submission_key"("created_at");

-- CreateIndex
CREATE INDEX "batch_account_id_env_id_idx" ON "batch"("account_id", "env", "id");

-- CreateIndex
CREATE INDEX "batch_due_at_idx" ON "batch"("due_at") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "batch_created_at_idx" ON "batch"("created_at") WHERE (NOT received);

-- CreateIndex
CREATE INDEX "batch_finished_at_idx" ON "batch"("finished_at") WHERE (finished_at IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "batch_account_id_env_idempotency_key_key" ON "batch"("account_id", "env", "idempotency_key") WHERE (received);

-- CreateIndex
CREATE INDEX "batch_line_account_id_batch_id_line_idx" ON "batch_line"("account_id", "batch_id", "line") WHERE (due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "dead_letters_replay_failed_at_idx" ON "dead_letters"("replay", "failed_at");

-- AddForeignKey
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_emission_id_fkey" FOREIGN KEY ("emission_id") REFERENCES "emission"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "batch_line" ADD CONSTRAINT "batch_line_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "batch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the schema language cannot express.

CREATE TABLE attempt_default PARTITION OF attempt DEFAULT;

CREATE TABLE exchange_default PARTITION OF exchange DEFAULT;

CREATE FUNCTION continue_numbers(of_env text, of_issuer text, of_type text, next_number bigint, sales_compared boolean DEFAULT false)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    stored TEXT := stored_environment(of_env, of_issuer, NULL);
    firsts BIGINT[];
    lasts BIGINT[];
BEGIN
    SELECT array_agg(substr(r.from, 4)::bigint), array_agg(substr(r.to, 4)::bigint) INTO firsts, lasts
      FROM taxpayers t, json_to_recordset(t.state -> 'ranges') AS r("env" text, "ecf_type" text, "from" text, "to" text)
     WHERE t.rnc = of_issuer AND r.env = of_env AND r.ecf_type = of_type;
    -- The number after the last one of a range says that all its numbers are used.
    IF NOT EXISTS (SELECT FROM unnest(firsts, lasts) AS r(first, last) WHERE next_number BETWEEN r.first AND r.last + 1) THEN
        RAISE EXCEPTION '% has no registered range of type % in % that holds %.', of_issuer, of_type, of_env, next_number;
    END IF;
    PERFORM forget_returned_numbers(stored, of_issuer, of_type, 0, 9999999999);
    INSERT INTO number_position AS p
    SELECT stored, of_issuer, of_type, r.first, least(continue_numbers.next_number, r.last + 1)
      FROM unnest(firsts, lasts) AS r(first, last) WHERE r.first < continue_numbers.next_number
    ON CONFLICT (env, issuer_rnc, ecf_type, first_number)
    DO UPDATE SET next_number = greatest(p.next_number, EXCLUDED.next_number);
    -- 0: all ranges of the type.
    INSERT INTO compared_series VALUES (stored, of_issuer, of_type, 0, now(), sales_compared)
    ON CONFLICT (env, issuer_rnc, ecf_type, first_number)
    DO UPDATE SET compared_at = EXCLUDED.compared_at, sales_compared = EXCLUDED.sales_compared;
END $function$;

CREATE FUNCTION continue_range(of_env text, of_issuer text, of_type text, range_first bigint, range_last bigint, next_number bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO compared_series AS s VALUES (of_env, of_issuer, of_type, range_first, now())
    ON CONFLICT (env, issuer_rnc, ecf_type, first_number) DO UPDATE SET compared_at = EXCLUDED.compared_at
     WHERE s.compared_at < (SELECT r.restored_at FROM restored r WHERE NOT r.of_others);
    -- Another instance has compared it meanwhile, and numbers are drawn.
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM forget_returned_numbers(of_env, of_issuer, of_type, range_first, range_last);
    INSERT INTO number_position AS p VALUES (of_env, of_issuer, of_type, range_first, continue_range.next_number)
    ON CONFLICT (env, issuer_rnc, ecf_type, first_number)
    DO UPDATE SET next_number = greatest(p.next_number, EXCLUDED.next_number);
END $function$;

CREATE FUNCTION draw_number(for_account text, for_env text, for_issuer text, for_type text, for_key text, for_token uuid, lease_ms integer, ranges json, OUT outcome text, OUT encf text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
    lease_end TIMESTAMPTZ := clock_timestamp() + lease_ms * INTERVAL '1 millisecond';
    crashed TEXT;
    returned TEXT;
    range_first BIGINT;
    range_last BIGINT;
    candidate BIGINT;
BEGIN
    -- A call that crashed leaves its key and its number behind.
    UPDATE reserved_number r SET idempotency_key = NULL
     WHERE r.account_id = for_account AND r.env = for_env AND r.idempotency_key = for_key AND r.until <= clock_timestamp()
    RETURNING r.encf INTO crashed;
    IF EXISTS (SELECT FROM submission_key k
                WHERE k.account_id = for_account AND k.env = for_env AND k.idempotency_key = for_key) THEN
        outcome := 'bound';
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM reserved_number r
                WHERE r.account_id = for_account AND r.env = for_env AND r.idempotency_key = for_key) THEN
        outcome := 'busy';
        RETURN;
    END IF;
    -- After a restore, the authority may have numbers that this database does not know.
    IF EXISTS (SELECT FROM restored r, json_to_recordset(ranges) AS g(first_number bigint)
                WHERE NOT r.of_others AND NOT is_compared(for_env, for_issuer, for_type, g.first_number)) THEN
        outcome := 'restored';
        RETURN;
    END IF;
    LOOP
        SELECT n.encf INTO returned
          FROM reserved_number n
          JOIN json_to_recordset(ranges) AS r(first_number bigint, last_number bigint)
            ON n.encf BETWEEN encf_of(for_type, r.first_number) AND encf_of(for_type, r.last_number)
         WHERE n.env = for_env AND n.issuer_rnc = for_issuer AND n.until <= clock_timestamp()
         -- Concurrent calls skip the number that is locked above, so it is the one to take; otherwise they leave a gap.
         ORDER BY n.encf IS DISTINCT FROM crashed, n.encf LIMIT 1 FOR UPDATE OF n SKIP LOCKED;
        IF FOUND THEN
            IF is_number_free(for_env, for_issuer, returned) THEN
                UPDATE reserved_number n SET token = for_token, until = lease_end, account_id = for_account, idempotency_key = for_key
                 WHERE n.env = for_env AND n.issuer_rnc = for_issuer AND n.encf = returned;
                outcome := 'drawn';
                encf := returned;
                RETURN;
            END IF;
            DELETE FROM reserved_number n WHERE n.env = for_env AND n.issuer_rnc = for_issuer AND n.encf = returned;
            CONTINUE;
        END IF;

        SELECT r.first_number, r.last_number INTO range_first, range_last
          FROM json_to_recordset(ranges) AS r(first_number bigint, last_number bigint)
          LEFT JOIN number_position p ON p.env = for_env AND p.issuer_rnc = for_issuer AND p.ecf_type = for_type
                                     AND p.first_number = r.first_number
         WHERE coalesce(p.next_number, r.first_number) <= r.last_number
         ORDER BY r.first_number LIMIT 1;
        IF NOT FOUND THEN
            outcome := 'none';
            RETURN;
        END IF;
        INSERT INTO number_position VALUES (for_env, for_issuer, for_type, range_first, range_first) ON CONFLICT DO NOTHING;
        SELECT p.next_number INTO candidate FROM number_position p
         WHERE p.env = for_env AND p.issuer_rnc = for_issuer AND p.ecf_type = for_type AND p.first_number = range_first
           FOR UPDATE;
        WHILE candidate <= range_last AND outcome IS NULL LOOP
            candidate := coalesce(next_free_number(for_env, for_issuer, for_type, candidate, range_last), range_last + 1);
            EXIT WHEN candidate > range_last;
            INSERT INTO reserved_number AS n
            VALUES (for_env, for_issuer, encf_of(for_type, candidate), for_token, lease_end, for_account, for_key)
            ON CONFLICT ON CONSTRAINT reserved_number_pkey DO NOTHING RETURNING n.encf INTO encf;
            IF FOUND THEN
                outcome := 'drawn';
            END IF;
            candidate := candidate + 1;
        END LOOP;
        UPDATE number_position p SET next_number = greatest(p.next_number, candidate)
         WHERE p.env = for_env AND p.issuer_rnc = for_issuer AND p.ecf_type = for_type AND p.first_number = range_first;
        IF outcome IS NOT NULL THEN
            RETURN;
        END IF;
    END LOOP;
END $function$;

CREATE FUNCTION encf_of(ecf_type text, sequence_number bigint)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT 'E' || ecf_type || lpad(sequence_number::text, 10, '0')
$function$;

CREATE FUNCTION environment_of(stored text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT split_part(stored, '/', 1)
$function$;

CREATE FUNCTION forget_returned_numbers(of_env text, of_issuer text, of_type text, range_first bigint, range_last bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
    -- Numbers that were returned before a restore may have been used after its backup.
    DELETE FROM reserved_number n USING restored r
     WHERE NOT r.of_others AND n.until <= r.restored_at AND n.env = of_env AND n.issuer_rnc = of_issuer
       AND n.encf BETWEEN encf_of(of_type, range_first) AND encf_of(of_type, range_last)
$function$;

CREATE FUNCTION is_compared(of_env text, of_issuer text, of_type text, range_first bigint)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
    SELECT EXISTS (SELECT FROM compared_series s, restored r
     WHERE NOT r.of_others AND s.env = of_env AND s.issuer_rnc = of_issuer AND s.ecf_type = of_type
       AND s.first_number IN (0, range_first) AND s.compared_at >= r.restored_at)
$function$;

CREATE FUNCTION is_next_note(document text, notes integer)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(document, 34)) THEN
        RETURN false;
    END IF;
    RETURN (SELECT count(*) FROM attempt WHERE modifies = document) = notes;
END
$function$;

CREATE FUNCTION is_number_free(of_env text, of_issuer text, of_encf text)
 RETURNS boolean
 LANGUAGE sql
AS $function$
    SELECT NOT EXISTS (SELECT FROM emission e WHERE e.env = of_env AND e.issuer_rnc = of_issuer AND e.encf = of_encf)
       AND NOT EXISTS (SELECT FROM cancelled_range c
                        WHERE c.env = of_env AND c.issuer_rnc = of_issuer AND c.ecf_type = substr(of_encf, 2, 2)
                          AND substr(of_encf, 4)::bigint BETWEEN c.first_number AND c.last_number)
$function$;

CREATE FUNCTION next_free_number(of_env text, of_issuer text, of_type text, first bigint, last bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
    RUN CONSTANT BIGINT := 1000;
    candidate BIGINT := first;
    count_from BIGINT := first;
    last_cancelled BIGINT;
BEGIN
    WHILE candidate <= last LOOP
        SELECT c.last_number INTO last_cancelled FROM cancelled_range c
         WHERE c.env = of_env AND c.issuer_rnc = of_issuer AND c.ecf_type = of_type AND c.first_number <= candidate
         ORDER BY c.first_number DESC LIMIT 1;
        IF last_cancelled >= candidate THEN
            candidate := last_cancelled + 1;
        ELSIF EXISTS (SELECT FROM emission e WHERE e.env = of_env AND e.issuer_rnc = of_issuer
                                               AND e.encf = encf_of(of_type, candidate)) THEN
            -- A run that is interrupted is counted once, then stepped through.
            IF candidate >= count_from THEN
                count_from := candidate + RUN;
                IF RUN = (SELECT count(*) FROM emission e
                           WHERE e.env = of_env AND e.issuer_rnc = of_issuer
                             AND e.encf BETWEEN encf_of(of_type, candidate) AND encf_of(of_type, count_from - 1)) THEN
                    candidate := count_from;
                    CONTINUE;
                END IF;
            END IF;
            candidate := candidate + 1;
        ELSIF EXISTS (SELECT FROM reserved_number n WHERE n.env = of_env AND n.issuer_rnc = of_issuer
                                                      AND n.encf = encf_of(of_type, candidate)) THEN
            candidate := candidate + 1;
        ELSE
            RETURN candidate;
        END IF;
    END LOOP;
    RETURN NULL;
END $function$;

CREATE FUNCTION numbers_left(of_env text, of_issuer text, of_type text, range_first bigint, range_last bigint, OUT next_encf text, OUT remaining bigint)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
    candidate BIGINT;
BEGIN
    -- Returned numbers.
    SELECT min(n.encf), count(*) INTO next_encf, remaining
      FROM reserved_number n
     WHERE n.env = of_env AND n.issuer_rnc = of_issuer AND n.until <= now()
       AND n.encf BETWEEN encf_of(of_type, range_first) AND encf_of(of_type, range_last)
       AND is_number_free(of_env, of_issuer, n.encf);
    SELECT p.next_number INTO candidate FROM number_position p
     WHERE p.env = of_env AND p.issuer_rnc = of_issuer AND p.ecf_type = of_type AND p.first_number = range_first;
    candidate := coalesce(candidate, range_first);
    IF candidate > range_last THEN
        RETURN;
    END IF;
    -- Numbers that no draw has reached, without those that are cancelled, used or reserved. A number that is cancelled and used or
    -- reserved is taken away once.
    SELECT remaining + range_last - candidate + 1 - cancelled.numbers
        - (SELECT count(*) FROM emission e
            WHERE e.env = of_env AND e.issuer_rnc = of_issuer
              AND e.encf BETWEEN encf_of(of_type, candidate) AND encf_of(of_type, range_last))
        + cancelled.used
        - (SELECT count(*) FROM reserved_number n
            WHERE n.env = of_env AND n.issuer_rnc = of_issuer
              AND n.encf BETWEEN encf_of(of_type, candidate) AND encf_of(of_type, range_last)
              AND is_number_free(of_env, of_issuer, n.encf))
      INTO remaining
      FROM (SELECT coalesce(sum(t.last_number - t.first_number + 1), 0) AS numbers, coalesce(sum((
                SELECT count(*) FROM emission e
                 WHERE e.env = of_env AND e.issuer_rnc = of_issuer
                   AND e.encf BETWEEN encf_of(of_type, t.first_number) AND encf_of(of_type, t.last_number))), 0) AS used
              FROM (SELECT greatest(c.first_number, candidate) AS first_number, least(c.last_number, range_last) AS last_number
                      FROM cancelled_range c
                     WHERE c.env = of_env AND c.issuer_rnc = of_issuer AND c.ecf_type = of_type
                       AND c.first_number <= range_last AND c.last_number >= candidate) t) cancelled;
    IF next_encf IS NULL THEN
        next_encf := encf_of(of_type, next_free_number(of_env, of_issuer, of_type, candidate, range_last));
    END IF;
END $function$;

CREATE FUNCTION present_run(of_env text, of_issuer text)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$
    SELECT CASE WHEN of_env = 'eCF' THEN 1
        ELSE coalesce((SELECT max(c.run) FROM certification_run c WHERE c.env = of_env AND c.issuer_rnc = of_issuer), 1) END
$function$;

CREATE FUNCTION skip_cancelled_number()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    sequence_number BIGINT := substr(NEW.encf, 4)::bigint;
    last_cancelled BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('numbers:' || NEW.env || ':' || NEW.issuer_rnc, 0));
    IF NEW.env <> 'eCF' AND NEW.env <> stored_environment(environment_of(NEW.env), NEW.issuer_rnc, NULL) THEN
        RETURN NULL;
    END IF;
    SELECT last_number INTO last_cancelled FROM cancelled_range
     WHERE env = NEW.env AND issuer_rnc = NEW.issuer_rnc AND ecf_type = NEW.ecf_type AND first_number <= sequence_number
     ORDER BY first_number DESC LIMIT 1;
    IF last_cancelled >= sequence_number THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $function$;

CREATE FUNCTION stored_environment(of_env text, of_issuer text, of_run integer)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
    SELECT CASE WHEN of_env = 'eCF' AND of_run IS NULL THEN of_env
        WHEN coalesce(of_run, present_run(of_env, of_issuer)) > 1
        THEN of_env || '/' || coalesce(of_run, present_run(of_env, of_issuer)) ELSE of_env END
$function$;

CREATE TRIGGER skip_cancelled_number BEFORE INSERT OR UPDATE OF attempt ON emission FOR EACH ROW EXECUTE FUNCTION skip_cancelled_number();

INSERT INTO "archive_size" ("bytes") VALUES (0);
