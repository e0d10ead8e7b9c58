/** The command was used wrongly, or a file it was given cannot be read: exit code 2, with what to do instead. */
export class UsageError extends Error {}
