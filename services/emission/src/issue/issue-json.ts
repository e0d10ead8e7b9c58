import type { PendingDocument } from '@ecf/archive';
import type { NumberRange } from '@ecf/contracts';
import {
  type CalendarDate,
  type Fault,
  formatDocumentDate,
  groupOf,
  ISSUING_RULES,
  signingTimeWarnings,
  textOf,
  toCalendarDate,
} from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';
import type { EmissionStore, Observer, ReachCheckpoint } from '../attempt/ports.js';
import type { Certificates } from '../credentials/certificates.js';
import type { Taxpayers } from '../credentials/taxpayers.js';
import type { TokenSource } from '../credentials/token-source.js';
import { CommitUnconfirmed, EmissionError, MAX_ROUNDS, overtaken, refuseFaults, refuseWarnings } from '../errors.js';
import {
  type DrawnNumber,
  drawNumber,
  keyRequired,
  NumberLost,
  needsStatedExpiry,
  noNumberLeft,
  openRanges,
} from '../numbers/automatic-number.js';
import { checkStatedExpiry } from '../numbers/number-ranges.js';
import type { Drawn, KeyScope, NumberStore } from '../numbers/ports.js';
import { checkReference } from '../references/referenced-document.js';
import { type KnownDocuments, mayBeLost } from '../restored/known-documents.js';
import type { LostNumbers, Series } from '../restored/ports.js';
import type { CompareWithAttempt, SentDocument } from './compare-documents.js';
import type { Invoice } from './invoice-json.js';
import type { Issue } from './issue.js';
import type { JsonSubmission, Order } from './json-submission.js';
import type { GivenNumber, InvoiceJson, ReadInvoiceJson } from './read-invoice-json.js';
import { filledIn, submissionOfKey } from './repeats.js';
import type { SignJson } from './sign-json.js';

export type IssuedJson =
  /** A dry run that found no fault. */
  | {
      readonly outcome: 'checked';
      readonly invoice: Invoice;
      /** Null if the service is to give the number. */
      readonly encf: string | null;
      readonly warnings: readonly Fault[];
    }
  | {
      readonly outcome: 'issued';
      readonly attempt: Attempt;
      readonly tokens: TokenSource;
      readonly isStated: boolean;
      readonly files: readonly PendingDocument[];
    }
  /** Issued before. Without a certificate for the login the result cannot be queried. */
  | {
      readonly outcome: 'repeated';
      readonly attempt: Attempt;
      readonly tokens: TokenSource | null;
      /** Found by its idempotency key, which never makes a new attempt. */
      readonly isBound: boolean;
      /** Whether the caller stated the number. */
      readonly isStated: boolean;
    };

/** Invoice JSON in; signed, committed and sent e-CF out. Does not wait for the verdict. */
export type IssueJson = (submission: JsonSubmission) => Promise<IssuedJson>;

type Read = (given: GivenNumber | null) => Promise<InvoiceJson>;

export function createIssueJson({
  readInvoice,
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
}: {
  readonly readInvoice: ReadInvoiceJson;
  readonly taxpayers: Taxpayers;
  readonly certificates: Pick<Certificates, 'uploaded'>;
  readonly signer: SignJson;
  readonly known: Pick<KnownDocuments, 'requireUnused'>;
  readonly issue: Issue;
  readonly compare: CompareWithAttempt;
  readonly emissions: EmissionStore;
  readonly numbers: NumberStore;
  readonly lost: LostNumbers;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  readonly checkpoint: ReachCheckpoint;
}): IssueJson {
  return async ({ certificate, ...submission }) => {
    const { caller, env, data, batchLine, watchReading, dryRun } = submission;
    const read: Read = (given) =>
      readInvoice(data, env, clock(), given, batchLine !== null, watchReading, caller.accountId);
    const { isOpen, invoice, ownReference } = await read(null);
    const taxpayer = await taxpayers.require(caller, invoice.key.issuerRnc);
    const uploaded = certificate === null ? null : await certificates.uploaded(certificate, caller.accountId);
    const order = { ...submission, ownReference: submission.ownReference ?? ownReference, taxpayer, uploaded };
    // The key of a batch line names the line, which is issued once in any case.
    if (!isOpen) return issueUnder(order, invoice, null, batchLine === null ? order.idempotencyKey : null);
    if (!dryRun) return issueOpen(order, invoice, read);
    const { warnings } = await checkOpen(order, invoice, read);
    return { outcome: 'checked', invoice, encf: null, warnings: warningsOf(order, invoice, warnings) };
  };

  /** Issues the invoice under its number, which the caller chose or the service drew. */
  async function issueUnder(
    order: Order,
    invoice: Invoice,
    drawn: Drawn | null,
    idempotencyKey: string | null,
  ): Promise<IssuedJson> {
    const { caller, taxpayer, dryRun, signal } = order;
    const sent = sentDocument(order, invoice);
    const submission = {
      document: invoice,
      sent,
      caller,
      ranges: taxpayer.ranges,
      drawn,
      idempotencyKey,
      dryRun,
      signal,
    };
    const issued = await issue(submission, (reference, previous) => {
      warningsOf(order, invoice, reference.warnings);
      return signer.sign(order, invoice, reference, previous, drawn !== null);
    });
    const isStated = drawn === null;
    if (issued.outcome !== 'checked' && isStated) known.requireUnused(issued.attempt);
    switch (issued.outcome) {
      case 'checked': {
        const warnings = warningsOf(order, invoice, issued.warnings);
        return { outcome: 'checked', invoice, encf: invoice.key.encf, warnings };
      }
      case 'repeated':
        return { ...issued, tokens: signer.tokensFor(order, issued.attempt), isStated };
      case 'issued': {
        const { tokens, files } = issued.signed;
        return { outcome: 'issued', attempt: issued.attempt, tokens, isStated, files };
      }
    }
  }

  /**
   * Issues an invoice that leaves its number to the service. Everything that can be refused is checked before the draw. The same
   * invoice under its key gets the first outcome.
   */
  async function issueOpen(order: Order, invoice: Invoice, read: Read): Promise<IssuedJson> {
    const { caller, idempotencyKey } = order;
    const { env, issuerRnc } = invoice.key;
    if (idempotencyKey === null) throw keyRequired();
    const scope = { accountId: caller.accountId, env, idempotencyKey };
    const request = { issuerRnc, sent: sentDocument(order, invoice), ignored: filledIn(invoice.tree) };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const before = await submissionOfKey(numbers, compare, scope, request);
      if (before !== null)
        return {
          outcome: 'repeated',
          attempt: before,
          tokens: signer.tokensFor(order, before),
          isBound: true,
          isStated: false,
        };
      const { ranges, warnings } = await checkOpen(order, invoice, read);
      warningsOf(order, invoice, warnings);
      const { tokens } = await signer.logIn(order, invoice);
      const found = await issueLost(order, invoice, read);
      if (found !== null) return found;
      const number = await draw(order, invoice, scope, ranges, tokens);
      if (number === null) continue;
      try {
        return await issueDrawn(order, number, read);
      } catch (error) {
        // The number stays reserved for a commit that may still be stored.
        if (error instanceof CommitUnconfirmed) throw error;
        await numbers.giveBack(number.drawn.token).catch((failure) => {
          observer.failed('giving a number back, which is free when its reservation ends', failure);
        });
        // The number went to another document, or its range expired, meanwhile.
        if (!(error instanceof NumberLost || isExpired(error))) throw error;
      }
    }
    throw overtaken(`The number drawn for this document went to another one at each of ${MAX_ROUNDS} tries.`);
  }

  /** @throws NumberLost if the invoice needs another number */
  async function issueDrawn(order: Order, { encf, expiry, drawn }: DrawnNumber, read: Read): Promise<IssuedJson> {
    await checkpoint('drawn');
    const { invoice } = await read({ encf, expiry });
    // The comparison after a restore may have ended since the look-up, and have found this sale; or an operator replaced it.
    const series = seriesOf(invoice);
    if ((await lost.alike(series, invoice.summary)).length > 0) throw new NumberLost();
    await lost.refuseUnknown(series, invoice.summary, order.batchAt);
    return issueUnder(order, invoice, drawn, null);
  }

  /** The next number; null if another call used one under the key meanwhile. @throws EmissionError if no number can be given */
  async function draw(
    { taxpayer, signal }: Order,
    { key: { env, issuerRnc }, type: ecfType, contentHash }: Invoice,
    scope: KeyScope,
    ranges: readonly NumberRange[],
    tokens: TokenSource,
  ): Promise<DrawnNumber | null> {
    const request = { issuerRnc, ecfType, contentHash };
    const number = await drawNumber(numbers, sleep, scope, request, ranges, signal);
    if (number === 'restored') return lost.refuse({ env, issuerRnc, ecfType }, ranges, tokens);
    if (number === 'none') throw noNumberLeft(taxpayer.ranges, ranges, env, ecfType);
    return number;
  }

  /**
   * After a restore: issues the invoice under the number of the same document at the authority, which this database lost with its
   * key; null if no lost document has its content.
   *
   * @throws EmissionError 409 `encf_already_used` if it is not certain that it is another sale
   */
  async function issueLost(order: Order, invoice: Invoice, read: Read): Promise<IssuedJson | null> {
    const { env } = invoice.key;
    const series = seriesOf(invoice);
    const candidates = await lost.alike(series, invoice.summary);
    for (const encf of candidates) {
      const range = order.taxpayer.ranges.find((one) => one.env === env && one.from <= encf && encf <= one.to);
      const expiry = range?.expires == null ? null : formatDocumentDate(range.expires as CalendarDate);
      try {
        return await issueUnder(order, (await read({ encf, expiry })).invoice, null, order.idempotencyKey);
      } catch (error) {
        if (!(error instanceof EmissionError) || error.code !== 'encf_already_used') throw error;
      }
    }
    if (candidates.length > 0) throw mayBeLost(candidates);
    await lost.refuseUnknown(series, invoice.summary, order.batchAt);
    return null;
  }

  /** The checks that need no number. */
  async function checkOpen({ caller, taxpayer }: Order, { key, type, summary, tree }: Invoice, read: Read) {
    const ranges = openRanges(taxpayer.ranges, key.env, type, toCalendarDate(clock()));
    if (needsStatedExpiry(type, ranges)) await read({ encf: key.encf, expiry: null });
    const issuer = { caller, ranges: taxpayer.ranges };
    const { faults, warnings } = await checkReference(emissions, issuer, key, summary, tree);
    // The number that the check assumes has an expiry too; only the document's own statement counts.
    refuseFaults([...faults, ...checkStatedExpiry(ranges, tree)]);
    return { ranges, warnings };
  }

  /**
   * The warnings that are known before a document is signed: its own, those of the certificate, and those `found` elsewhere.
   *
   * @throws EmissionError 400 `invalid_document` if there are any and the caller refuses them
   */
  function warningsOf(order: Order, invoice: Invoice, found: readonly Fault[]): readonly Fault[] {
    const { notBefore, notAfter } = signer.certificateOf(order);
    const stated = textOf(groupOf(invoice.tree, 'ECF'), 'FechaHoraFirma');
    const warnings = [...invoice.warnings, ...signingTimeWarnings(stated, notBefore, notAfter), ...found];
    if (order.refusesWarnings) refuseWarnings(warnings, order.batchLine !== null);
    return warnings;
  }
}

/** The invoice for the comparison with a stored document. */
function sentDocument({ caller }: Order, { contentHash, written }: Invoice): SentDocument {
  return { accountId: caller.accountId, root: 'ECF', contentHash, xml: () => Buffer.from(written.output) };
}

function seriesOf({ key: { env, issuerRnc }, type: ecfType }: Invoice): Series {
  return { env, issuerRnc, ecfType };
}

function isExpired(error: unknown): boolean {
  const faults = error instanceof EmissionError ? error.faults : [];
  return faults.some(({ rule }) => rule === ISSUING_RULES.numberExpired.name);
}
