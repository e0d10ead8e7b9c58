/** `131880738E310000000001.xml`: an RNC (9) or cédula (11) and an eNCF (13). Source: technical description p.59. */
export function isFileName(filename: string): boolean {
  return /^([0-9]{9}|[0-9]{11})[A-Za-z][0-9]{12}\.xml$/i.test(filename);
}

/** Whether a file is named after one of the RNC and the eNCF. */
export function isNamedAfter(filename: string, rncs: readonly (string | null)[], encf: string | null): boolean {
  const stem = filename.slice(0, -'.xml'.length).toUpperCase();
  return rncs.some((rnc) => stem === `${rnc}${encf}`);
}
