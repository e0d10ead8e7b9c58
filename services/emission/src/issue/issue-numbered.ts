import type { TaxpayerState } from '@ecf/contracts';
import { type Fault, groupOf, signingTimeWarnings, textOf } from '@ecf/domain';
import { requestCertificate } from '@ecf/service-kit/security';
import type { Caller } from '@ecf/taxpayer-replica';
import { type SigningCertificate, serialiseCertificate } from '@ecf/xml-signing';
import { archived } from '../archive-path.js';
import type { Attempt } from '../attempt/attempt.js';
import { type TokenOrWait, tokenOrWait } from '../contingency/token-or-wait.js';
import type { Certificates } from '../credentials/certificates.js';
import { certificateTokens, type TokenSource } from '../credentials/token-source.js';
import { refuseWarnings } from '../errors.js';
import { rangeEndWarnings } from '../numbers/number-ranges.js';
import type { Drawn, Ports } from '../ports.js';
import type { ReferenceCheck } from '../references/referenced-document.js';
import { type ComparePorts, compareWithAttempt, type SentDocument } from './compare-documents.js';
import { submissionOfKey } from './idempotency-key.js';
import { type Invoice, type SignedInvoice, signInvoice } from './invoice-json.js';
import { type IssuePorts, issue, type Offer, type OfferKey, type Prepared, submitter } from './issue.js';

/** The caller, its taxpayer, and the certificate of the request. */
export interface Parties {
  readonly caller: Caller;
  readonly taxpayer: TaxpayerState;
  readonly uploaded: SigningCertificate | null;
  /** Whether the document may be signed and wait while the authority is away. */
  readonly mayWait: boolean;
  /** Whether a warning refuses the document. */
  readonly refusesWarnings: boolean;
  /** The batch line that the document is, or null. */
  readonly batchLine: string | null;
  /** The caller's own reference. */
  readonly ownReference: string | null;
  /** Aborted when the caller leaves. */
  readonly signal?: AbortSignal | undefined;
}

export type IssuedJson =
  /** A dry run that found nothing wrong. */
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
      readonly signed: SignedInvoice;
    }
  /** Issued before. Without a certificate for the login the result cannot be queried. */
  | {
      readonly outcome: 'repeated';
      readonly attempt: Attempt;
      readonly tokens: TokenSource | null;
      /** Found by its idempotency key, which never makes a new attempt. */
      readonly isBound: boolean;
    };

/** Whence the number of an invoice: drawn under an idempotency key, or chosen by the caller, with or without a key. */
export type Given =
  | { readonly drawn: Drawn; readonly idempotencyKey: null }
  | { readonly drawn: null; readonly idempotencyKey: string | null };

export interface IssueNumbered {
  /** Issues the invoice under its number, which the caller chose or the service drew. */
  issue(parties: Parties, invoice: Invoice, given: Given, dryRun: boolean): Promise<IssuedJson>;
  /** The outcome of a dry run; `encf` is null if the service is to give the number. */
  checked(parties: Parties, invoice: Invoice, encf: string | null, found: readonly Fault[]): IssuedJson;
  /**
   * The warnings that are known before a document is signed: its own, those of the certificate, and those `found` elsewhere.
   *
   * @throws EmissionError 400 `invalid_document` if there are any and the caller refuses them
   */
  warningsOf(parties: Parties, invoice: Invoice, found: readonly Fault[]): readonly Fault[];
  /** The outcome of a repeat, which queries the result if there is a certificate for the login. */
  repeated(parties: Parties, attempt: Attempt, isBound: boolean): IssuedJson;
}

export type NumberedPorts = IssuePorts & ComparePorts & Pick<Ports, 'numbers' | 'tokens' | 'recordUse' | 'sealer'>;

/** Issues invoices that have a number. */
export function createIssueNumbered(ports: NumberedPorts, certificates: Certificates): IssueNumbered {
  return { issue: issueNumbered, checked, warningsOf, repeated };

  async function issueNumbered(
    parties: Parties,
    invoice: Invoice,
    { drawn, idempotencyKey }: Given,
    dryRun: boolean,
  ): Promise<IssuedJson> {
    const { caller, taxpayer, uploaded } = parties;
    const { key, type, tree, route } = invoice;
    const offer: Offer<PreparedInvoice> = {
      document: invoice,
      caller,
      ranges: taxpayer.ranges,
      drawn,
      key: idempotencyKey === null ? null : keyOf(caller, invoice, idempotencyKey),
      compare: (existing) => compareWithAttempt(ports, existing, sentDocument(caller, invoice)),
      async prepare(reference, previous) {
        const certificate = uploaded ?? certificates.stored(taxpayer);
        warningsOf(parties, invoice, reference.warnings);
        const owner = { account: caller.accountId, rnc: taxpayer.rnc };
        const tokens = certificateTokens(ports, { env: key.env, ...owner, certificate });
        const login = await tokenOrWait(ports, { env: key.env, route }, tokens, parties.mayWait);
        await ports.recordUse({ ...owner, use: 'ecf', certificate });
        const began = performance.now();
        const now = ports.clock();
        const ending = login.since === null ? [] : rangeEndWarnings(taxpayer.ranges, key, type, tree, now);
        const signed = await signInvoice(
          withWarnings(invoice, [...reference.warnings, ...ending]),
          certificate,
          now,
          previous?.signedAt,
        );
        // Some warnings are known only now, for example that of another signing time.
        if (parties.refusesWarnings) refuseWarnings(signed.facts.warnings, parties.batchLine !== null);
        ports.observer.signed((performance.now() - began) / 1_000);
        return prepared(ports, { parties, invoice, reference, signed, certificate, login, tokens });
      },
    };
    const issued = await issue(ports, offer, { dryRun, signal: parties.signal });
    if (issued.outcome === 'checked') return checked(parties, invoice, key.encf, issued.warnings);
    if (issued.outcome === 'repeated') return repeated(parties, issued.attempt, issued.isBound);
    const { tokens, signed } = issued.prepared;
    return { outcome: 'issued', attempt: issued.attempt, tokens, signed };
  }

  function keyOf({ accountId }: Caller, invoice: Invoice, idempotencyKey: string): OfferKey {
    const { key, contentHash } = invoice;
    const scope = { accountId, env: key.env, idempotencyKey };
    const request = { issuerRnc: key.issuerRnc, sent: sentDocument({ accountId }, invoice), ignored: [] };
    const binding = { idempotencyKey, contentHash };
    return {
      binding,
      submission: () => submissionOfKey(ports, scope, request),
      bind: (attempt) => ports.numbers.bind(accountId, binding, attempt),
    };
  }

  function checked(parties: Parties, invoice: Invoice, encf: string | null, found: readonly Fault[]): IssuedJson {
    return { outcome: 'checked', invoice, encf, warnings: warningsOf(parties, invoice, found) };
  }

  function warningsOf(parties: Parties, invoice: Invoice, found: readonly Fault[]): readonly Fault[] {
    const { taxpayer, uploaded, refusesWarnings, batchLine } = parties;
    const { notBefore, notAfter } = uploaded ?? certificates.stored(taxpayer);
    const stated = textOf(groupOf(invoice.tree, 'ECF'), 'FechaHoraFirma');
    const warnings = [...invoice.warnings, ...signingTimeWarnings(stated, notBefore, notAfter), ...found];
    if (refusesWarnings) refuseWarnings(warnings, batchLine !== null);
    return warnings;
  }

  function repeated(parties: Parties, attempt: Attempt, isBound: boolean): IssuedJson {
    return { outcome: 'repeated', attempt, tokens: tokensForRepeat(attempt, parties), isBound };
  }

  function tokensForRepeat(attempt: Attempt, { taxpayer, uploaded }: Parties): TokenSource | null {
    try {
      const certificate = uploaded ?? certificates.stored(taxpayer);
      return certificateTokens(ports, {
        env: attempt.env,
        account: attempt.accountId,
        rnc: attempt.issuerRnc,
        certificate,
      });
    } catch {
      return null;
    }
  }
}

/** The invoice for the comparison with a stored document. */
export function sentDocument({ accountId }: Pick<Caller, 'accountId'>, invoice: Invoice): SentDocument {
  return {
    accountId,
    root: 'ECF',
    contentHash: invoice.contentHash,
    xml: () => Buffer.from(invoice.written.output),
  };
}

function withWarnings(invoice: Invoice, warnings: readonly Fault[]): Invoice {
  return warnings.length === 0 ? invoice : { ...invoice, warnings: [...invoice.warnings, ...warnings] };
}

interface Parts {
  readonly parties: Parties;
  readonly invoice: Invoice;
  readonly reference: ReferenceCheck;
  readonly signed: SignedInvoice;
  /** The uploaded certificate, or the stored one. */
  readonly certificate: SigningCertificate;
  readonly login: TokenOrWait;
  readonly tokens: TokenSource;
}

interface PreparedInvoice extends Prepared {
  readonly signed: SignedInvoice;
}

function prepared(ports: Pick<Ports, 'clock' | 'sealer'>, parts: Parts): PreparedInvoice {
  const { parties, invoice, reference, signed, certificate, login, tokens } = parts;
  const { caller, taxpayer, uploaded } = parties;
  const { key, type, route } = invoice;
  const now = ports.clock();
  const xml = archived('ecf', key, Buffer.from(signed.xml), now);
  const rfce = signed.rfceXml === null ? null : archived('rfce', key, Buffer.from(signed.rfceXml), now);
  return {
    fresh: {
      accountId: taxpayer.account_id,
      ecfType: type,
      source: 'json',
      route,
      contentHash: invoice.contentHash,
      facts: signed.facts,
      xml: { path: xml.path, sha256: xml.sha256 },
      rfce: rfce === null ? null : { path: rfce.path, sha256: rfce.sha256 },
      signedAt: signed.signedAt,
      signerFingerprint: certificate.fingerprint,
      hasOwnCertificate: uploaded !== null,
      modifies: reference.modifies,
      modifiedAttempt: reference.modifiedAttempt,
      contingencySince: login.since,
      batchLine: parties.batchLine,
      ownReference: parties.ownReference,
      ...submitter(caller),
      ...key,
    },
    files: rfce === null ? [xml] : [xml, rfce],
    sent: (rfce ?? xml).bytes,
    sealedCertificate:
      uploaded &&
      ports.sealer.seal(serialiseCertificate(uploaded), requestCertificate(caller.accountId, key.issuerRnc)),
    token: login.token,
    tokens,
    maintenanceUntil: login.until,
    signed,
  };
}
