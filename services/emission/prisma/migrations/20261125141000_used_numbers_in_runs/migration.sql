-- The first number from `first` to `last` that no document has, no cancellation covers and nobody has reserved; null if there is none.
-- Runs of used numbers are counted, a thousand at a time: a caller may have used millions before.
CREATE FUNCTION next_free_number(of_env text, of_issuer text, of_type text, first bigint, last bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
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
END $$;

-- Draws the next number of a range and reserves it. The lowest returned number comes first, then the next one that is not used,
-- cancelled or reserved. The row of number_position is locked until the commit, so draws of one range follow each other.
--
-- ranges: [{first_number, last_number}] that are not expired.
-- outcome: `drawn` with encf; `bound` if the key was used before; `busy` if its call is in progress; `none` if no number is left.
CREATE OR REPLACE FUNCTION draw_number(for_account text, for_env text, for_issuer text, for_type text, for_key text, for_token uuid,
    lease_ms int, ranges json, OUT outcome text, OUT encf text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    lease_end TIMESTAMPTZ := clock_timestamp() + lease_ms * INTERVAL '1 millisecond';
    returned TEXT;
    range_first BIGINT;
    range_last BIGINT;
    candidate BIGINT;
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
END $$;

-- What is left of a registered range: the number that would be drawn next, null if there is none, and how many.
CREATE OR REPLACE FUNCTION numbers_left(of_env text, of_issuer text, of_type text, range_first bigint, range_last bigint,
    OUT next_encf text, OUT remaining bigint) LANGUAGE plpgsql STABLE AS $$
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
END $$;
