import { printable, wrapped } from '../output.js';
import { AREAS, type Finding } from './finding.js';

const DETAIL = 26;
const MARKS = { ok: ' ', fault: '!', unchecked: '?', skipped: '-' } as const;

/**
 * The findings by area. A line that begins with `!` needs action, which its next lines name; `?` could not be checked; `-` was
 * left out.
 */
export function page(findings: readonly Finding[], columns: number): string {
  const lines = AREAS.flatMap((area) => {
    const own = findings.filter((finding) => finding.area === area);
    return own.length === 0 ? [] : [area, ...own.flatMap((finding) => linesOf(finding, columns)), ''];
  });
  return `${[...lines, ...wrapped(summary(findings), columns, 0)].join('\n')}\n`;
}

function linesOf({ subject, state, detail, remedy }: Finding, columns: number): string[] {
  const name = `  ${MARKS[state]} ${printable(subject)}`.padEnd(DETAIL - 1);
  const details = wrapped(printable(detail), columns, DETAIL);
  const [first = '', ...rest] = details;
  const isLong = name.length >= DETAIL;
  return [
    ...(isLong ? [name, first] : [`${name} ${first.trimStart()}`]),
    ...rest,
    ...(remedy === null ? [] : wrapped(`> ${remedy}`, columns, DETAIL, DETAIL + 2)),
  ];
}

function summary(findings: readonly Finding[]): string {
  const of = (state: Finding['state']) => findings.filter((finding) => finding.state === state);
  const faults = of('fault').length;
  const missing = of('unchecked').map(({ area, subject }) => (area === 'backups' ? area : subject));
  const toDo = faults === 1 ? '1 finding to act on' : `${faults} findings to act on`;
  const result = faults > 0 ? toDo : missing.length > 0 ? 'not everything was checked' : 'nothing to do';
  const unmade = missing.length === 0 ? '' : `; not checked: ${missing.join(', ')}`;
  return `${result}; ${of('ok').length} checks passed${unmade}`;
}
