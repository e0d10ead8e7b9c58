/** Wrong usage, or a file that cannot be read: exit code 2, with the remedy. */
export class UsageError extends Error {}
