-- The status poller queries every result: documents that wait for one are not due in this service.
UPDATE attempt SET next_action_at = NULL, owner = NULL WHERE state IN ('processing', 'not-found');
