import type { Fault } from '@ecf/domain';

/** Documents' texts on a terminal: control characters could move its cursor or change what is shown. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern replaces them
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** Faults or warnings, one per line, followed by the rule and its source. */
export function faultLines(faults: readonly Fault[]): string {
  return faults
    .map(({ path, message, rule, code, source, severity }) => {
      const place = path === '' ? '' : `${path}: `;
      const origin = [rule, ...(code === null ? [] : [`code ${code}`]), source].join(', ');
      return `    ${severity === 'warning' ? 'warning: ' : ''}${printable(`${place}${message} (${origin})`)}\n`;
    })
    .join('');
}

/** `e-CF 31 E310000000001`, as far as it is known. */
export function documentName(document: string | null, type: string | null, encf: string | null): string {
  const name = document === 'ECF' ? `e-CF ${type ?? ''}`.trim() : (document ?? 'not a document');
  return printable([name, ...(encf === null ? [] : [encf])].join(' '));
}
