/** The consumer group of this service; also the name under which handled events are noted. */
export const APPROVALS_GROUP = 'approvals';
