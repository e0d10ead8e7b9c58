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

-- The environment in a stored one: `CerteCF` in `CerteCF/2`.
CREATE FUNCTION environment_of(stored text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT split_part(stored, '/', 1)
$$;

-- The present certification run of an issuer, from 1.
CREATE FUNCTION present_run(of_env text, of_issuer text) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN of_env = 'eCF' THEN 1
        ELSE coalesce((SELECT max(c.run) FROM certification_run c WHERE c.env = of_env AND c.issuer_rnc = of_issuer), 1) END
$$;

-- The stored environment of a run; NULL is the present one.
CREATE FUNCTION stored_environment(of_env text, of_issuer text, of_run int) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN coalesce(of_run, present_run(of_env, of_issuer)) > 1
        THEN of_env || '/' || coalesce(of_run, present_run(of_env, of_issuer)) ELSE of_env END
$$;

-- A number of an earlier run takes no attempt either: the caller looks again and finds the number free in the present run. The
-- start of a run holds the exclusive lock on the numbers of the run before it until its commit.
CREATE OR REPLACE FUNCTION skip_cancelled_number() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
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
END $$;
