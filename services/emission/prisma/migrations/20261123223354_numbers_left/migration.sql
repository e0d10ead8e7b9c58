-- What is left of a registered range: the number that would be drawn next, null if there is none, and how many.
CREATE FUNCTION numbers_left(of_env text, of_issuer text, of_type text, range_first bigint, range_last bigint,
    OUT next_encf text, OUT remaining bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
    candidate BIGINT;
    last_cancelled BIGINT;
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
    -- Numbers that no draw has reached, without those that are cancelled, used or reserved.
    remaining := remaining + range_last - candidate + 1
        - (SELECT coalesce(sum(least(c.last_number, range_last) - greatest(c.first_number, candidate) + 1), 0)
             FROM cancelled_range c
            WHERE c.env = of_env AND c.issuer_rnc = of_issuer AND c.ecf_type = of_type
              AND c.first_number <= range_last AND c.last_number >= candidate)
        - (SELECT count(*) FROM (
             SELECT e.encf FROM emission e
              WHERE e.env = of_env AND e.issuer_rnc = of_issuer
                AND e.encf BETWEEN encf_of(of_type, candidate) AND encf_of(of_type, range_last)
             UNION
             SELECT n.encf FROM reserved_number n
              WHERE n.env = of_env AND n.issuer_rnc = of_issuer
                AND n.encf BETWEEN encf_of(of_type, candidate) AND encf_of(of_type, range_last)) taken
            WHERE NOT EXISTS (
              SELECT FROM cancelled_range c
               WHERE c.env = of_env AND c.issuer_rnc = of_issuer AND c.ecf_type = of_type
                 AND substr(taken.encf, 4)::bigint BETWEEN c.first_number AND c.last_number));
    WHILE next_encf IS NULL AND candidate <= range_last LOOP
        SELECT c.last_number INTO last_cancelled FROM cancelled_range c
         WHERE c.env = of_env AND c.issuer_rnc = of_issuer AND c.ecf_type = of_type AND c.first_number <= candidate
         ORDER BY c.first_number DESC LIMIT 1;
        IF last_cancelled >= candidate THEN
            candidate := last_cancelled + 1;
        ELSIF is_number_free(of_env, of_issuer, encf_of(of_type, candidate)) AND NOT EXISTS (
            SELECT FROM reserved_number n
             WHERE n.env = of_env AND n.issuer_rnc = of_issuer AND n.encf = encf_of(of_type, candidate)) THEN
            next_encf := encf_of(of_type, candidate);
        ELSE
            candidate := candidate + 1;
        END IF;
    END LOOP;
END $$;
