/** A message of the authority: `codigo` and `valor` on the wire. */
export interface Message {
  readonly code: string;
  readonly text: string;
}

/** The authority's decision on a document: `codigo`, `estado`, `mensajes`, `secuenciaUtilizada` on the wire. */
export interface Verdict {
  readonly code: string;
  readonly status: string;
  readonly messages: readonly Message[];
  /** The number is burned: no other document may use it. */
  readonly sequenceUsed: boolean;
}

/** Accepted documents carry one empty message. Source: field samples of the result query. */
const FILLER: readonly Message[] = [{ code: '0', text: '' }];

export const ACCEPTED: Verdict = { code: '1', status: 'Aceptado', messages: FILLER, sequenceUsed: true };
export const IN_PROCESS: Verdict = { code: '3', status: 'En Proceso', messages: [], sequenceUsed: false };
export const NOT_FOUND: Verdict = { code: '0', status: 'No encontrado', messages: [], sequenceUsed: false };

export function rejected(messages: readonly Message[], sequenceUsed: boolean): Verdict {
  return { code: '2', status: 'Rechazado', messages, sequenceUsed };
}

export function conditional(messages: readonly Message[]): Verdict {
  return { code: '4', status: 'Aceptado Condicional', messages, sequenceUsed: true };
}

/** State words by code. Source: technical description p.20. */
const STATUS_WORDS: Readonly<Record<string, string>> = {
  '0': NOT_FOUND.status,
  '1': ACCEPTED.status,
  '2': 'Rechazado',
  '3': IN_PROCESS.status,
  '4': 'Aceptado Condicional',
};

export function statusWord(code: string): string | null {
  return STATUS_WORDS[code] ?? null;
}

/** Fiscally valid: accepted, with or without observations. */
export function isAccepted(verdict: Verdict): boolean {
  return verdict.code === '1' || verdict.code === '4';
}

/** No other document may take the number: it is valid, undecided, or burned by a rejection. */
export function holdsNumber(verdict: Verdict): boolean {
  return isAccepted(verdict) || verdict.code === '3' || verdict.sequenceUsed;
}
