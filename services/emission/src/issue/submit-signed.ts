import type { TaxpayerState } from '@ecf/contracts';
import {
  EMISSION_STATES,
  type Environment,
  type Fault,
  faultOf,
  ISSUING_RULES,
  isBelowSummaryLimit,
  submissionRoute,
} from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import { type Attempt, archived } from '../attempt/attempt.js';
import type { Recorder } from '../attempt/recorder.js';
import type { Taxpayers } from '../credentials/taxpayers.js';
import { givenToken, refuseExpiredToken, type TokenSource } from '../credentials/token-source.js';
import { EmissionError, MAX_ROUNDS, overtaken } from '../errors.js';
import type { ReferenceCheck } from '../references/referenced-document.js';
import { type KnownDocuments, usedAtAuthority } from '../restored/known-documents.js';
import type { FollowUp } from '../sending/follow-up.js';
import type { Waits } from './await-verdict.js';
import type { SentDocument } from './compare-documents.js';
import { type Issue, type Issued, type Signed, submitter } from './issue.js';
import {
  checkedResponse,
  type DocumentResponse,
  documentResponse,
  type EcfResponse,
  type RfceResponse,
} from './responses.js';
import type { ReadSigned, SignedDocument } from './signed-xml.js';

export interface SignedSubmission {
  readonly caller: Caller;
  readonly env: Environment;
  /** The signed document. */
  readonly xml: string;
  /** The caller's token for the authority, header x-token. */
  readonly token: string;
  /** The caller's own reference. */
  readonly ownReference: string | null;
  readonly dryRun: boolean;
  /** Aborted when the caller leaves: a document that is not begun then is not issued, and no verdict is waited for. */
  readonly signal?: AbortSignal | undefined;
}

export interface SubmitSigned {
  /** `POST /submit_ecf`: a signed full e-CF. */
  ecf(submission: SignedSubmission): Promise<EcfResponse>;
  /** `POST /submit_fc`: a signed consumer summary. */
  rfce(submission: SignedSubmission): Promise<RfceResponse>;
}

const KEEP_THE_DOCUMENT = faultOf(
  ISSUING_RULES.fullDocumentNotKept,
  'RFCE',
  'only the summary is stored here: keep the full signed document for ten years, because the customer may need it',
);

/** Submissions of signed documents. The bytes are verified, stored and sent unchanged. */
export function createSubmitSigned({
  taxpayers,
  readSigned,
  issue,
  waits,
  recorder,
  followUp,
  known,
  clock,
}: {
  readonly taxpayers: Taxpayers;
  readonly readSigned: ReadSigned;
  readonly issue: Issue;
  readonly waits: Waits;
  readonly recorder: Pick<Recorder, 'claim'>;
  readonly followUp: FollowUp;
  readonly known: KnownDocuments;
  readonly clock: () => Date;
}): SubmitSigned {
  return {
    async ecf(submission) {
      const document = await readSigned(submission.xml, 'ECF', submission.env, clock());
      if (submissionRoute(document.type, document.summary.total_amount) === 'rfce') {
        throw new EmissionError(
          'wrong_endpoint',
          'A type 32 under 250,000.00 is not sent as a full document: send its signed summary to /submit_fc, or its JSON to /fe_Submit.',
        );
      }
      const submitted = await submit(submission, document, 'ecf');
      if ('warnings' in submitted) {
        return {
          ...checkedResponse(document.key.encf, [...document.facts.warnings, ...submitted.warnings]),
          trackId: null,
        };
      }
      const { attempt } = submitted;
      const silent = attempt.state !== 'held' && !EMISSION_STATES[attempt.state].decided;
      if (silent && attempt.trackId === null) throw notAnsweredYet();
      return { ...answerTo(document, attempt), trackId: attempt.trackId };
    },
    async rfce(submission) {
      const document = await readSigned(submission.xml, 'RFCE', submission.env, clock());
      if (!isBelowSummaryLimit(document.summary.total_amount)) {
        throw new EmissionError(
          'wrong_endpoint',
          'A type 32 of 250,000.00 or more has no summary: send the full signed document to /submit_ecf.',
        );
      }
      const submitted = await submit(submission, document, 'rfce');
      if ('warnings' in submitted)
        return checkedResponse(document.key.encf, [...document.facts.warnings, KEEP_THE_DOCUMENT]);
      const sent = submitted.attempt;
      // If the authority wants the same summary again (004), it is sent while the caller waits.
      const attempt =
        sent.state === 'resend-due' ? await waits.verdict(sent, givenToken(submission.token), submission.signal) : sent;
      return answerTo(document, attempt);
    },
  };

  /** The attempt that the submission made or found. The number of a withdrawn one is free, so it is tried again. */
  async function submit(
    submission: SignedSubmission,
    document: SignedDocument,
    route: 'ecf' | 'rfce',
  ): Promise<{ attempt: Attempt } | { warnings: readonly Fault[] }> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const issued = await issueSigned(submission, document, route);
      if (issued.outcome === 'checked') return { warnings: issued.warnings };
      known.requireUnused(issued.attempt);
      if (issued.outcome === 'issued') {
        if (issued.attempt.state === 'withdrawn') throw withdrawnForItsToken();
        return { attempt: issued.attempt };
      }
      const attempt = await resume(issued.attempt, submission.token, submission.signal);
      if (attempt.state !== 'withdrawn') return { attempt };
    }
    throw overtaken(`Another request withdrew ${document.key.encf} at each of ${MAX_ROUNDS} tries.`);
  }

  /**
   * Takes the next step of an undecided attempt with the token of a repeat: queries its result, looks a lost send up, or sends.
   * So a document reaches its end also if no certificate is stored.
   */
  async function resume(found: Attempt, token: string, signal: AbortSignal | undefined): Promise<Attempt> {
    const attempt = await waits.send(found, signal);
    if (attempt.state === 'processing' && attempt.trackId !== null)
      return waits.queryOnce(attempt, attempt.trackId, givenToken(token));
    const isDue = ['committed', 'resend-due', 'unknown', 'arrived'].includes(attempt.state);
    if (!isDue || attempt.owner !== null) return attempt;
    refuseExpiredToken(token, clock());
    const claimed = await recorder.claim(attempt);
    if (claimed === null) return attempt;
    const tokens = givenToken(token);
    const advanced = await followUp.advance(claimed, tokens);
    if (tokens.wasRefused()) throw advanced.state === 'withdrawn' ? withdrawnForItsToken() : refusedOnTheWay(advanced);
    return advanced;
  }

  async function issueSigned(
    submission: SignedSubmission,
    document: SignedDocument,
    route: 'ecf' | 'rfce',
  ): Promise<Issued> {
    const { caller, token, dryRun, signal } = submission;
    const taxpayer = await taxpayers.require(caller, document.key.issuerRnc);
    if (dryRun) refuseExpiredToken(token, clock());
    const sent = sentDocument(caller, document);
    const { ranges } = taxpayer;
    return issue(
      { document, sent, caller, ranges, drawn: null, idempotencyKey: null, dryRun, signal },
      async (reference, previous) => {
        refuseExpiredToken(token, clock());
        const isKnown = await isAtAuthority(document, route, previous, givenToken(token));
        return { ...signedAttempt(submission, document, taxpayer, route, reference, clock()), isKnown };
      },
    );
  }

  /** Whether the authority has the document, which a restore lost. @throws EmissionError 409 if it accepted another one */
  async function isAtAuthority(
    { key, facts, summary }: SignedDocument,
    route: 'ecf' | 'rfce',
    previous: Attempt | null,
    tokens: TokenSource,
  ): Promise<boolean> {
    const { date_issued: dateIssued, buyer_rnc: buyerRnc } = summary;
    const wanted = { key, route, dateIssued, buyerRnc, securityCode: facts.securityCode, previous };
    const token = await tokens.get();
    const accepted = await known.find(wanted, token, tokens);
    if (accepted === null) return known.hasSummary(wanted, facts.securityCode, token, tokens);
    if (accepted.securityCode !== facts.securityCode) throw usedAtAuthority(key);
    return true;
  }
}

function sentDocument({ accountId }: Caller, { summary, contentHash, bytes }: SignedDocument): SentDocument {
  return { accountId, root: summary.document === 'RFCE' ? 'RFCE' : 'ECF', contentHash, xml: () => bytes };
}

/** The answer about the stored attempt; it says so if its document is not the very one that was sent. */
function answerTo({ sha256 }: SignedDocument, attempt: Attempt): DocumentResponse {
  const answer = documentResponse(attempt);
  if (sha256 === attempt.xml.sha256 || sha256 === attempt.rfce?.sha256) return answer;
  const path = attempt.route === 'rfce' ? 'RFCE.Encabezado.CodigoSeguridadeCF' : 'ECF.FechaHoraFirma';
  const message = `this sale was submitted before with another signature; the stored document counts, whose security code is ${attempt.facts.securityCode}: keep, print and deliver that one, not the one sent now`;
  return { ...answer, warnings: [...answer.warnings, faultOf(ISSUING_RULES.signedBefore, path, message)] };
}

function notAnsweredYet(): EmissionError {
  return new EmissionError(
    'authority_timeout',
    'The authority did not answer in time; the document is stored and the gateway continues to send it. Repeat the same bytes later: the answer has the trackId once it is known.',
  );
}

function signedAttempt(
  { caller, token, ownReference }: SignedSubmission,
  document: SignedDocument,
  taxpayer: TaxpayerState,
  route: 'ecf' | 'rfce',
  reference: ReferenceCheck,
  now: Date,
): Omit<Signed, 'isKnown'> {
  const file = archived(route, document.key, document.bytes, now);
  const stored = { path: file.path, sha256: file.sha256 };
  const warnings = [
    ...document.facts.warnings,
    ...reference.warnings,
    ...(route === 'rfce' ? [KEEP_THE_DOCUMENT] : []),
  ];
  return {
    fresh: {
      ...document.key,
      accountId: taxpayer.account_id,
      ecfType: document.type,
      source: route === 'ecf' ? 'signed-ecf' : 'signed-rfce',
      route,
      contentHash: document.contentHash,
      facts: { ...document.facts, warnings },
      xml: stored,
      rfce: route === 'rfce' ? stored : null,
      signedAt: document.signedAt,
      signerFingerprint: document.signerFingerprint,
      hasOwnCertificate: false,
      modifies: reference.modifies,
      modifiedAttempt: reference.modifiedAttempt,
      ownReference,
      ...submitter(caller),
    },
    files: [file],
    sent: document.bytes,
    sealedCertificate: null,
    token,
    tokens: givenToken(token),
    maintenanceUntil: null,
  };
}

/** An earlier send may have reached the authority, so the document stays undecided. */
function refusedOnTheWay({ encf }: Attempt): EmissionError {
  return new EmissionError(
    'invalid_token',
    `The authority refuses the token in x-token. ${encf} stays in progress from an earlier send: get a new token from /obtain_token and repeat the same bytes.`,
  );
}

/** The authority refused the token and has no copy of the document: the number is free. */
function withdrawnForItsToken(): EmissionError {
  return new EmissionError(
    'invalid_token',
    'The authority refuses the token in x-token. The document was not submitted and its number is free: get a new token from /obtain_token and repeat.',
  );
}
