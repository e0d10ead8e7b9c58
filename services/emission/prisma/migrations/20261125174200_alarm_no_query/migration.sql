UPDATE "attempt" SET "alarm" = 'no-query' WHERE "alarm" = 'cannot-ask';
