-- Ids come one at a time from a sequence of the column, after the last block of the sequence before it.
CREATE SEQUENCE emission_id_seq;
ALTER TABLE "emission" ALTER COLUMN "id" SET DEFAULT nextval('emission_id_seq');
ALTER SEQUENCE emission_id_seq OWNED BY "emission"."id";
SELECT setval('emission_id_seq', last_value + 100) FROM emission_id_block;
DROP SEQUENCE emission_id_block;
