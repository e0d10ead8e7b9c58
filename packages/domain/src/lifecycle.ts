/** The public statuses of an invoice. The authority's own words, `En Proceso` and `Aceptado Condicional` without their blank. */
export const INVOICE_STATUSES = ['Aceptado', 'AceptadoCondicional', 'Rechazado', 'EnProceso', 'No encontrado'] as const;

export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/**
 * State of an emission, which is the state of its latest attempt. Every attempt has its own signed bytes. A new one begins
 * only if no earlier one is accepted or undecided.
 */
export type EmissionState =
  | 'committed'
  | 'held'
  | 'sending'
  | 'unknown'
  | 'resend-due'
  | 'resending'
  | 'arrived'
  | 'processing'
  | 'not-found'
  | 'accepted'
  | 'conditional'
  | 'rejected-reusable'
  | 'rejected-used'
  | 'withdrawn';

/** The events of an emission. Each is an observed fact, not an intention. */
export type EmissionEvent =
  /** The document that this note modifies is not accepted yet. */
  | 'hold'
  /** The document that this note modifies is accepted. */
  | 'release'
  /** The first byte is about to leave; committed before it does. */
  | 'send'
  /**
   * The send certainly never reached the authority, or was refused before the authority read the document (our token
   * was stale).
   */
  | 'not-reached'
  /** The authority refused the token that the caller supplied (401). */
  | 'unauthorized'
  /** No verdict came back, the authority may have the document; also: the process ended while sending. */
  | 'outcome-unknown'
  /** Two separate answers "not found", or an operator, allow the same bytes to be sent again. */
  | 'cleared-to-resend'
  /** The authority requests the same summary again (code 004). */
  | 'try-again'
  /** Our resend was answered "number (or combination) already used": the earlier copy arrived. */
  | 'refused-as-repeat'
  /** A trackId was given or found, or the authority says En Proceso. */
  | 'in-process'
  /** The authority does not know the trackId or the document. */
  | 'not-found'
  | 'accepted'
  | 'accepted-conditionally'
  /** Rejected, and the number may be used again. */
  | 'rejected-reusable'
  /** Rejected, and the number is spent. */
  | 'rejected-used'
  /** Given up before anything was sent, or, in a superseded certification run, instead of a resend. */
  | 'withdraw'
  /** Another document, or the same again, is signed and committed under the number. */
  | 'new-attempt';

interface EmissionStateFacts {
  meaning: string;
  /** The word of the public interface. */
  status: InvoiceStatus;
  /** Public `sequence_used`: null while it is open. */
  sequenceUsed: boolean | null;
  /** The next action: send, query the authority, wait, or none. */
  next: 'send' | 'query' | 'wait' | 'none';
  /** The authority has decided, or never will: there is no background work. */
  decided: boolean;
}

export const EMISSION_STATES: Readonly<Record<EmissionState, EmissionStateFacts>> = {
  committed: {
    meaning: 'signed and stored; not yet at the authority',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'send',
    decided: false,
  },
  held: {
    meaning: 'signed and stored; waits until the document it modifies is accepted',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'wait',
    decided: false,
  },
  sending: {
    meaning: 'the first send is in progress',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'wait',
    decided: false,
  },
  unknown: {
    meaning: 'the authority may have it: query it before sending again',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'query',
    decided: false,
  },
  'resend-due': {
    meaning: 'the same bytes may be sent again; an earlier copy may still turn up',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'send',
    decided: false,
  },
  resending: {
    meaning: 'the same bytes are being sent again',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'wait',
    decided: false,
  },
  arrived: {
    meaning: 'an earlier copy reached the authority: its verdict is looked up, and the document is not sent again',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'query',
    decided: false,
  },
  processing: {
    meaning: 'the authority has it and has not decided',
    status: 'EnProceso',
    sequenceUsed: null,
    next: 'query',
    decided: false,
  },
  'not-found': {
    meaning: 'the authority gave a trackId and now does not know it',
    status: 'No encontrado',
    sequenceUsed: null,
    next: 'query',
    decided: false,
  },
  accepted: { meaning: 'accepted', status: 'Aceptado', sequenceUsed: true, next: 'none', decided: true },
  conditional: {
    meaning: 'accepted with observations; fiscally valid',
    status: 'AceptadoCondicional',
    sequenceUsed: true,
    next: 'none',
    decided: true,
  },
  'rejected-reusable': {
    meaning: 'rejected; the number may be used again',
    status: 'Rechazado',
    sequenceUsed: false,
    next: 'none',
    decided: true,
  },
  'rejected-used': {
    meaning: 'rejected; the number is spent',
    status: 'Rechazado',
    sequenceUsed: true,
    next: 'none',
    decided: true,
  },
  withdrawn: {
    meaning: 'given up before the authority took anything; the number is free',
    status: 'Rechazado',
    sequenceUsed: false,
    next: 'none',
    decided: true,
  },
};

/** The transitions that a verdict of the authority causes in every state that awaits one. */
const VERDICT = {
  accepted: 'accepted',
  'accepted-conditionally': 'conditional',
  'rejected-reusable': 'rejected-reusable',
  'rejected-used': 'rejected-used',
} as const;

/** All transitions, by state and event. An event that a state does not list is refused in it. */
export const EMISSION_TRANSITIONS: Readonly<
  Record<EmissionState, Readonly<Partial<Record<EmissionEvent, EmissionState>>>>
> = {
  committed: { send: 'sending', hold: 'held', withdraw: 'withdrawn' },
  held: { release: 'committed', withdraw: 'withdrawn' },
  sending: {
    ...VERDICT,
    'in-process': 'processing',
    'not-reached': 'committed',
    unauthorized: 'withdrawn',
    'outcome-unknown': 'unknown',
    'try-again': 'resend-due',
  },
  unknown: {
    ...VERDICT,
    'in-process': 'processing',
    'not-found': 'unknown',
    'cleared-to-resend': 'resend-due',
  },
  'resend-due': { ...VERDICT, 'in-process': 'processing', send: 'resending', withdraw: 'withdrawn' },
  resending: {
    ...VERDICT,
    'in-process': 'processing',
    'not-reached': 'resend-due',
    unauthorized: 'resend-due',
    'outcome-unknown': 'unknown',
    'try-again': 'resend-due',
    'refused-as-repeat': 'arrived',
  },
  arrived: { ...VERDICT, 'in-process': 'processing', 'not-found': 'arrived' },
  processing: {
    ...VERDICT,
    'in-process': 'processing',
    'not-found': 'not-found',
    'refused-as-repeat': 'arrived',
  },
  'not-found': {
    ...VERDICT,
    'in-process': 'processing',
    'not-found': 'not-found',
    'cleared-to-resend': 'resend-due',
    'refused-as-repeat': 'arrived',
  },
  accepted: {},
  conditional: {},
  'rejected-reusable': { 'new-attempt': 'committed' },
  'rejected-used': {},
  withdrawn: { 'new-attempt': 'committed' },
};

/** The state does not have the event. */
export class TransitionError extends Error {
  readonly code = 'transition_refused';

  constructor(
    readonly state: EmissionState,
    readonly event: EmissionEvent,
  ) {
    super(`an emission that is ${state} cannot take the event ${event}`);
    this.name = 'TransitionError';
  }
}

/**
 * The state after the event.
 * @throws TransitionError if the state does not have the event
 */
export function transition(state: EmissionState, event: EmissionEvent): EmissionState {
  const next = EMISSION_TRANSITIONS[state][event];
  if (next === undefined) throw new TransitionError(state, event);
  return next;
}

/** Whether the state has the event. */
export function canTransition(state: EmissionState, event: EmissionEvent): boolean {
  return EMISSION_TRANSITIONS[state][event] !== undefined;
}
