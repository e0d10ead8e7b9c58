-- Undecided documents are due when they are overdue.
UPDATE "attempt" SET "next_action_at" = coalesce(CASE WHEN "contingency_since" IS NULL THEN "committed_at" + interval '72 hours' ELSE "deadline" END,
  now() + interval '72 hours')
WHERE "next_action_at" IS NULL AND ("state" IN ('processing', 'not-found') AND "alarm" IS NULL OR "alarm" = 'no-query');
