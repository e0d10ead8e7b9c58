import type { Answer, AuthorityVerdict } from '@ecf/authority-client';
import { isUnusable, retryAfterSeconds } from '@ecf/authority-client/answers';
import { LoginError } from '@ecf/authority-client/login';
import { type ActedBy, actOf } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { type Attempt, type DocumentKey, nameOf } from '../attempt/attempt.js';
import type { EmissionStore } from '../attempt/ports.js';
import type { Recorder } from '../attempt/recorder.js';
import { accepts, clearedToResend, inProcess } from '../attempt/transitions.js';
import type { DocumentTokens } from '../credentials/document-credentials.js';
import { EmissionError } from '../errors.js';
import { publicStatus } from '../published/invoice-event.js';
import type { Authority } from './ports.js';

/** Decision of a person about a document whose outcome cannot be queried. */
export type OperatorDecision =
  /** The authority does not have it: send the very same bytes again. */
  | { readonly action: 'resend' }
  /** The authority has it under this trackId. */
  | { readonly action: 'adopt'; readonly trackId: string };

export type ResolveByOperator = (
  key: DocumentKey,
  decision: OperatorDecision,
  /** The actor, for the audit log. */
  by?: ActedBy | undefined,
) => Promise<Resolved>;

/** The document afterwards, and whether the decision took effect: false if another attempt took the number meanwhile. */
export interface Resolved {
  readonly state: string;
  readonly trackId: string | null;
  readonly status: string;
  readonly applied: boolean;
}

/**
 * `ecf resolve`: a person decides about a document with an unknown outcome, and the background continues. A trackId
 * is adopted only if the authority confirms that it belongs to the document.
 */
export function createResolveByOperator(
  emissions: Pick<EmissionStore, 'find'>,
  recorder: Recorder,
  authority: Pick<Authority, 'queryResult'>,
  documentTokens: DocumentTokens,
): ResolveByOperator {
  return async (key, decision, by) => {
    const found = await emissions.find(key);
    if (found === null)
      throw new EmissionError(
        'not_found',
        `No document was issued under ${key.encf} of ${key.issuerRnc} in ${key.env}.`,
      );
    requireOpen(found, decision);
    if (decision.action === 'adopt') await proveSubmission(authority, documentTokens, found, decision.trackId);
    let decided: Attempt | null = null;
    const act = actOf(by, actionOf(found, decision), toIsoDominican(recorder.timing().now));
    const decide = (present: Attempt) => {
      requireOpen(present, decision);
      decided =
        decision.action === 'resend'
          ? clearedToResend(present, recorder.timing())
          : inProcess(present, decision.trackId, true, recorder.timing());
      return decided;
    };
    const attempt = await recorder.record(found, decide, [], act);
    const { state, trackId } = attempt;
    return { state, trackId, status: publicStatus(state), applied: attempt === decided };
  };
}

function actionOf({ env, issuerRnc, encf, run }: Attempt, decision: OperatorDecision) {
  const { action } = decision;
  const ofRun = run > 1 ? { run } : {};
  const details = action === 'adopt' ? { action, track_id: decision.trackId, ...ofRun } : { action, ...ofRun };
  return { action: 'document.resolve', target: `/documents/${env}/${issuerRnc}/${encf}`, details };
}

/** @throws EmissionError `conflict` if the document does not wait for a decision, or is leased */
function requireOpen(present: Attempt, { action }: OperatorDecision): void {
  if (accepts(present, action === 'resend' ? 'cleared-to-resend' : 'in-process') && present.owner === null) return;
  throw new EmissionError(
    'conflict',
    `${present.encf} is ${present.state} and does not need a decision by a person now.`,
  );
}

/** Milliseconds for the whole query, logins included: less than the gateway waits for the answer. */
const TIMEOUT_MS = 15_000;

/**
 * Resolves if the authority confirms that it has the document under `trackId`. A mistyped trackId would bring the
 * verdict on another document.
 *
 * @throws EmissionError `conflict` if the trackId belongs to another document, is unknown or has no number yet; other
 * codes if the query fails
 */
async function proveSubmission(
  authority: Pick<Authority, 'queryResult'>,
  documentTokens: DocumentTokens,
  attempt: Attempt,
  trackId: string,
): Promise<void> {
  const tokens = await documentTokens(attempt);
  if (tokens === null)
    throw new EmissionError(
      'certificate_missing',
      `The authority must be queried about ${trackId}, but ${attempt.issuerRnc} has no usable certificate to log in with; upload one, then repeat. ${UNCHANGED}`,
    );
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(unanswered(trackId)), { once: true }),
  );
  const query = async () => {
    const token = await Promise.race([tokens.get(), late]);
    const answer = await authority.queryResult({ ...nameOf(attempt), token, trackId, signal });
    const isRenewed = answer.outcome === 'unauthorized' && (await tokens.refused(token));
    return { answer, isRenewed };
  };
  try {
    const first = await query();
    requireProof((first.isRenewed ? await query() : first).answer, attempt, trackId);
  } catch (error) {
    throw error instanceof LoginError ? withoutLogin(error) : error;
  }
}

const UNCHANGED = 'The document was not changed.';

function requireProof(answer: Answer<AuthorityVerdict>, { encf, issuerRnc }: Attempt, trackId: string): void {
  const conflict = (sentence: string) => new EmissionError('conflict', `${sentence} ${UNCHANGED}`);
  switch (answer.outcome) {
    case 'verdict':
      if (answer.verdict.status === 'No encontrado')
        throw conflict(`The authority has no submission under the trackId ${trackId}; check the trackId.`);
      if (answer.verdict.encf === null)
        throw conflict(
          `The authority does not say yet which number the trackId ${trackId} belongs to, so it may be another than ${encf}; repeat in a moment.`,
        );
      return;
    case 'unauthorized':
      throw new EmissionError(
        'authority_unreadable',
        `The authority refuses tokens that it has just issued. ${UNCHANGED}`,
      );
    case 'refused':
      throw new EmissionError(
        'authority_unreadable',
        `The authority does not answer the query for ${trackId}: ${answer.reason}. ${UNCHANGED}`,
      );
    case 'unknown':
      if (answer.cause === 'another_document')
        throw conflict(
          `The trackId ${trackId} does not belong to ${encf} of ${issuerRnc}: ${answer.detail}. Find the right one at the authority, or have the document sent again where there is none.`,
        );
      if (isUnusable(answer))
        throw new EmissionError(
          'authority_unreadable',
          `The authority gave no usable answer to the query for ${trackId}; repeat later. ${UNCHANGED}`,
        );
      throw unanswered(trackId, answer.retryAfterMs);
  }
}

function unanswered(trackId: string, retryAfterMs?: number): EmissionError {
  return new EmissionError(
    'authority_unreachable',
    `The authority does not answer at the moment, so it is unknown which document ${trackId} belongs to; repeat later. ${UNCHANGED}`,
    { retryAfterSeconds: retryAfterSeconds(retryAfterMs) },
  );
}

function withoutLogin(error: LoginError): EmissionError {
  const sentence =
    error.code === 'login_refused'
      ? `The authority refuses the login with the certificate of this document${error.reason ? `: ${error.reason}` : ''}.`
      : 'The answer of the authority to the login cannot be used; repeat later.';
  return new EmissionError(error.code, `${sentence} ${UNCHANGED}`, {
    cause: error,
    retryAfterSeconds: retryAfterSeconds(error.retryAfterMs),
  });
}
