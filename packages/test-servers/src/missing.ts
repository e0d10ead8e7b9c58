/** Says that a server is missing and what helps. With CI=true nothing is skipped: it fails there. */
export function missing(server: string, remedy: string): null {
  const message = `${server} is missing. ${remedy}`;
  if (process.env.CI === 'true') throw new Error(message);
  process.stderr.write(`${message} Tests that need it are skipped.\n`);
  return null;
}
