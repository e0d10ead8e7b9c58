/** The subjects of `ecf doctor`, in the order in which it shows them. */
export const AREAS = [
  'settings',
  'certificates',
  'clocks',
  'connections',
  'versions',
  'disk',
  'lag',
  'backups',
] as const;
export type Area = (typeof AREAS)[number];

/**
 * The result of a check. `unchecked`: it could not be made, and the detail says what it needs. `skipped`: the deployment does
 * without this part, or the caller left the check out.
 */
export interface Finding {
  readonly area: Area;
  readonly subject: string;
  readonly state: 'ok' | 'fault' | 'unchecked' | 'skipped';
  readonly detail: string;
  /** What to do about a fault. */
  readonly remedy: string | null;
}

export const ok = (area: Area, subject: string, detail: string): Finding => ({
  area,
  subject,
  state: 'ok',
  detail,
  remedy: null,
});

export const fault = (area: Area, subject: string, detail: string, remedy: string): Finding => ({
  area,
  subject,
  state: 'fault',
  detail,
  remedy,
});

export const unchecked = (area: Area, subject: string, detail: string): Finding => ({
  area,
  subject,
  state: 'unchecked',
  detail,
  remedy: null,
});

export const skipped = (area: Area, subject: string, detail: string): Finding => ({
  ...unchecked(area, subject, detail),
  state: 'skipped',
});

/** The checks that a caller may leave out: subjects in small letters, and the area of the backups. */
export const OPTIONAL_CHECKS = ['gateway', 'services', 'postgresql', 'archive', 'authority', 'backups'] as const;

/** The findings, in which the named checks are not required. One that was made nevertheless keeps its result. */
export function withoutChecks(findings: readonly Finding[], names: readonly string[]): Finding[] {
  return findings.map((finding) => {
    const isNamed = names.includes(finding.area) || names.includes(finding.subject.toLowerCase());
    return isNamed && finding.state === 'unchecked' ? { ...finding, state: 'skipped' } : finding;
  });
}

/** Why something failed, in one line. */
export function reasonOf(error: unknown): string {
  const { message = String(error), code, errors = [] } = error as { message?: string; code?: string; errors?: Error[] };
  const [first] = errors;
  // An error of several addresses has no message.
  return message === '' ? (first?.message ?? code ?? 'unknown reason') : (message.split('\n')[0] ?? message);
}
