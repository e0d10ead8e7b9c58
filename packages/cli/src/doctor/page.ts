import { printable, wrapped } from '../output.js';
import { AREAS, type Finding } from './finding.js';

const DETAIL = 26;
const MARKS = { ok: ' ', fault: '!', unchecked: '-' } as const;

/** The findings by area. A line that begins with `!` needs action, which its next lines name; `-` was not checked. */
export function page(findings: readonly Finding[], columns: number): string {
  const lines = AREAS.flatMap((area) => {
    const own = findings.filter((finding) => finding.area === area);
    return own.length === 0 ? [] : [area, ...own.flatMap((finding) => linesOf(finding, columns)), ''];
  });
  return `${[...lines, summary(findings)].join('\n')}\n`;
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
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const faults = count('fault');
  const result = faults === 0 ? 'nothing to do' : faults === 1 ? '1 finding to act on' : `${faults} findings to act on`;
  return `${result}; ${count('ok')} checks passed, not checked: ${count('unchecked')}`;
}
