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

-- CreateIndex
CREATE UNIQUE INDEX "reserved_number_token_key" ON "reserved_number"("token");

-- CreateIndex
CREATE UNIQUE INDEX "reserved_number_account_id_env_idempotency_key_key" ON "reserved_number"("account_id", "env", "idempotency_key");

-- CreateIndex
CREATE INDEX "submission_key_created_at_idx" ON "submission_key"("created_at");

-- The text of a number.
CREATE FUNCTION encf_of(ecf_type text, sequence_number bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'E' || ecf_type || lpad(sequence_number::text, 10, '0')
$$;

-- Whether no document has the number and no cancellation covers it.
CREATE FUNCTION is_number_free(of_env text, of_issuer text, of_encf text) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT NOT EXISTS (SELECT FROM emission e WHERE e.env = of_env AND e.issuer_rnc = of_issuer AND e.encf = of_encf)
       AND NOT EXISTS (SELECT FROM cancelled_range c
                        WHERE c.env = of_env AND c.issuer_rnc = of_issuer AND c.ecf_type = substr(of_encf, 2, 2)
                          AND substr(of_encf, 4)::bigint BETWEEN c.first_number AND c.last_number)
$$;

-- Draws the next number of a range and reserves it. The lowest returned number comes first, then the next one that is not used,
-- cancelled or reserved. The row of number_position is locked until the commit, so draws of one range follow each other.
--
-- ranges: [{first_number, last_number}] that are not expired.
-- outcome: `drawn` with encf; `bound` if the key was used before; `busy` if its call is in progress; `none` if no number is left.
CREATE FUNCTION draw_number(for_account text, for_env text, for_issuer text, for_type text, for_key text, for_token uuid,
    lease_ms int, ranges json, OUT outcome text, OUT encf text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    lease_end TIMESTAMPTZ := clock_timestamp() + lease_ms * INTERVAL '1 millisecond';
    returned TEXT;
    range_first BIGINT;
    range_last BIGINT;
    candidate BIGINT;
    last_cancelled BIGINT;
BEGIN
    -- A call that crashed leaves its key behind.
    UPDATE reserved_number r SET idempotency_key = NULL
     WHERE r.account_id = for_account AND r.env = for_env AND r.idempotency_key = for_key AND r.until <= clock_timestamp();
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
    LOOP
        SELECT n.encf INTO returned
          FROM reserved_number n
          JOIN json_to_recordset(ranges) AS r(first_number bigint, last_number bigint)
            ON n.encf BETWEEN encf_of(for_type, r.first_number) AND encf_of(for_type, r.last_number)
         WHERE n.env = for_env AND n.issuer_rnc = for_issuer AND n.until <= clock_timestamp()
         ORDER BY n.encf LIMIT 1 FOR UPDATE OF n SKIP LOCKED;
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
            SELECT c.last_number INTO last_cancelled FROM cancelled_range c
             WHERE c.env = for_env AND c.issuer_rnc = for_issuer AND c.ecf_type = for_type AND c.first_number <= candidate
             ORDER BY c.first_number DESC LIMIT 1;
            IF last_cancelled >= candidate THEN
                candidate := last_cancelled + 1;
                CONTINUE;
            END IF;
            IF NOT EXISTS (SELECT FROM emission e WHERE e.env = for_env AND e.issuer_rnc = for_issuer
                                                    AND e.encf = encf_of(for_type, candidate)) THEN
                INSERT INTO reserved_number AS n
                VALUES (for_env, for_issuer, encf_of(for_type, candidate), for_token, lease_end, for_account, for_key)
                ON CONFLICT ON CONSTRAINT reserved_number_pkey DO NOTHING RETURNING n.encf INTO encf;
                IF FOUND THEN
                    outcome := 'drawn';
                END IF;
            END IF;
            candidate := candidate + 1;
        END LOOP;
        UPDATE number_position p SET next_number = greatest(p.next_number, candidate)
         WHERE p.env = for_env AND p.issuer_rnc = for_issuer AND p.ecf_type = for_type AND p.first_number = range_first;
        IF outcome IS NOT NULL THEN
            RETURN;
        END IF;
    END LOOP;
END $$;
