-- Undecided documents are due when they are overdue.
UPDATE "attempt" SET "next_action_at" = CASE WHEN "contingency_since" IS NULL THEN "committed_at" + interval '72 hours' ELSE "deadline" END
WHERE "state" IN ('processing', 'not-found') AND "next_action_at" IS NULL AND "alarm" IS NULL;
