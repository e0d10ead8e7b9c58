-- Whether a credit note may be committed whose check found so many attempts of notes on its document. False while another one
-- is being committed, and after one was: the note is then checked again. The lock ends with the transaction.
CREATE FUNCTION is_next_note(document text, notes int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended(document, 34)) THEN
        RETURN false;
    END IF;
    RETURN (SELECT count(*) FROM attempt WHERE modifies = document) = notes;
END
$$;
