/** Reports that a server is missing, with the remedy. With CI=true it fails instead of skipping. */
export function missing(server: string, remedy: string): null {
  const message = `${server} is missing. ${remedy}`;
  if (process.env.CI === 'true') throw new Error(message);
  process.stderr.write(`${message} Tests that need it are skipped.\n`);
  return null;
}
