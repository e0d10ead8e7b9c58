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

/** The result of a check. `unchecked`: the detail says what the check would need. */
export interface Finding {
  readonly area: Area;
  readonly subject: string;
  readonly state: 'ok' | 'fault' | 'unchecked';
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

/** Why something failed, in one line. */
export function reasonOf(error: unknown): string {
  const { message = String(error), code, errors = [] } = error as { message?: string; code?: string; errors?: Error[] };
  const [first] = errors;
  // An error of several addresses has no message.
  return message === '' ? (first?.message ?? code ?? 'unknown reason') : (message.split('\n')[0] ?? message);
}
