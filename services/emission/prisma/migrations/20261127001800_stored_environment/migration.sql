-- Production has one run, so it does not call present_run, which PostgreSQL cannot put into the statement.
CREATE OR REPLACE FUNCTION stored_environment(of_env text, of_issuer text, of_run int) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN of_env = 'eCF' AND of_run IS NULL THEN of_env
        WHEN coalesce(of_run, present_run(of_env, of_issuer)) > 1
        THEN of_env || '/' || coalesce(of_run, present_run(of_env, of_issuer)) ELSE of_env END
$$;
