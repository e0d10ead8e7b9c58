import type { Verdict } from '../check/examine.js';
import { documentName, faultLines } from './readable.js';

/** The faults of the document of a command that writes its result to standard output. */
export function complaints(file: string, { document, type, encf, valid, faults, warnings }: Verdict): string {
  if (valid && warnings.length === 0) return '';
  const name = documentName(document, type, encf);
  const head = `${file === '-' ? 'standard input' : file}: ${name} ${valid ? 'has warnings' : 'is at fault'}\n`;
  return head + faultLines([...faults, ...warnings]);
}
