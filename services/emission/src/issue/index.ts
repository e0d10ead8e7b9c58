import type { DocumentReader } from '@ecf/archive';
import type { CountedRate, ServiceRoute } from '@ecf/http';
import { validationSettings } from '@ecf/public-ingress';
import type { ServiceDependencies } from '@ecf/service';
import type { EmissionStore, Observer, ReachCheckpoint } from '../attempt/ports.js';
import type { Recorder } from '../attempt/recorder.js';
import type { ReadLines } from '../batches/line-numbers.js';
import type { EmissionConfig } from '../config.js';
import type { TokenBeforeSigning } from '../contingency/token-or-wait.js';
import type { Credentials } from '../credentials/index.js';
import type { Sealer } from '../credentials/ports.js';
import type { NumberStore } from '../numbers/ports.js';
import type { KnownDocuments } from '../restored/known-documents.js';
import type { LostNumbers } from '../restored/ports.js';
import type { Sending } from '../sending/index.js';
import type { Authority } from '../sending/ports.js';
import { createAdmission } from './admission.http.js';
import { createWaits } from './await-verdict.js';
import { createCompareWithAttempt } from './compare-documents.js';
import { createInvoices } from './invoices.worker.js';
import { createIssue } from './issue.js';
import { createIssueJson, type IssueJson } from './issue-json.js';
import { createKeyedQueue } from './keyed-queue.js';
import { createSignJson } from './sign-json.js';
import { createSignedDocuments } from './signed-documents.worker.js';
import { submissionRoutes } from './submissions.http.js';
import { createSubmitJson } from './submit-json.js';
import { createSubmitSigned } from './submit-signed.js';

export interface Issuing {
  readonly issueJson: IssueJson;
  readonly readLine: ReadLines;
  /** Submissions that callers wait for. */
  submissionsInFlight(): number;
  readonly routes: readonly ServiceRoute[];
  close(): Promise<unknown>;
}

/** The three ways to submit one document; batches use `issueJson` and the worker threads too. */
export function createIssuing(
  config: EmissionConfig,
  { clock, watchQueue }: ServiceDependencies,
  {
    emissions,
    numbers,
    lost,
    known,
    recorder,
    archive,
    authority,
    credentials,
    tokenBeforeSigning,
    sending,
    sealer,
    observer,
    sleep,
    checkpoint,
    countDocument,
    sendTimeoutMs,
  }: {
    readonly emissions: EmissionStore;
    readonly numbers: NumberStore;
    readonly lost: LostNumbers;
    readonly known: KnownDocuments;
    readonly recorder: Recorder;
    readonly archive: DocumentReader;
    readonly authority: Authority;
    readonly credentials: Credentials;
    readonly tokenBeforeSigning: TokenBeforeSigning;
    readonly sending: Pick<Sending, 'send' | 'followUp'>;
    readonly sealer: Sealer;
    readonly observer: Observer;
    readonly sleep: (ms: number) => Promise<void>;
    readonly checkpoint: ReachCheckpoint;
    readonly countDocument: (accountId: string) => Promise<CountedRate | null>;
    readonly sendTimeoutMs: number;
  },
): Issuing {
  const { taxpayers, certificates, tokens, recordUse } = credentials;
  const { send, followUp } = sending;
  const { VALIDATION_TIMEOUT_MS: timeoutMs, LARGE_VALIDATION_THREADS: threads, MAX_BODY_BYTES: maxBytes } = config;
  const invoices = createInvoices({ threads, timeoutMs, watchQueue });
  const signedDocuments = createSignedDocuments({ ...validationSettings(config), maxBytes, watchQueue });
  const admission = createAdmission(config.MAX_SUBMISSIONS);
  watchQueue({ queue: 'submissions', limit: config.MAX_SUBMISSIONS, depth: admission.inFlight });

  const compare = createCompareWithAttempt(archive, invoices.compare);
  const issue = createIssue({
    emissions,
    numbers,
    recorder,
    compare,
    send,
    followUp,
    inOrder: createKeyedQueue(),
    clock,
    checkpoint,
  });
  const signer = createSignJson({
    certificates,
    tokens,
    tokenBeforeSigning,
    recordUse,
    sealer,
    known,
    observer,
    clock,
  });
  const issueJson = createIssueJson({
    readInvoice: invoices.read,
    taxpayers,
    certificates,
    signer,
    known,
    issue,
    compare,
    emissions,
    numbers,
    lost,
    observer,
    clock,
    sleep,
    checkpoint,
  });
  const settings = { statusWaitMs: config.STATUS_WAIT_MS, sendTimeoutMs };
  const waits = createWaits({ emissions, recorder, authority, followUp, observer, clock, sleep, settings });
  const readSigned = signedDocuments.read;
  return {
    issueJson,
    readLine: invoices.line,
    submissionsInFlight: admission.inFlight,
    routes: submissionRoutes({
      submitJson: createSubmitJson(issueJson, waits, archive, known, clock),
      submitSigned: createSubmitSigned({ taxpayers, readSigned, issue, waits, recorder, followUp, known, clock }),
      admission,
      countDocument,
      maxBodyBytes: maxBytes,
    }),
    close: () => Promise.all([invoices.close(), signedDocuments.close()]),
  };
}
