import type { TaxpayerState } from '@ecf/contracts';
import { type Environment, type Fault, groupOf, signingTimeWarnings, textOf, toCalendarDate } from '@ecf/domain';
import { requestCertificate } from '@ecf/service-kit/security';
import type { Caller } from '@ecf/taxpayer-replica';
import { type SigningCertificate, serialiseCertificate } from '@ecf/xml-signing';
import { archived } from '../archive-path.js';
import type { Attempt } from '../attempt/attempt.js';
import type { Certificates, UploadedCertificate } from '../credentials/certificates.js';
import { certificateTokens, loginFailure, type TokenSource } from '../credentials/token-source.js';
import type { FollowUp } from '../follow-up/follow-up.js';
import type { Ports } from '../ports.js';
import type { Taxpayers } from '../taxpayers.js';
import { checkedAnswer, type SubmissionAnswer, submissionAnswer } from './answers.js';
import { answerDeadline, awaitSend, awaitVerdict } from './await-verdict.js';
import { type Invoice, readInvoiceJson, type SignedInvoice, signInvoice, unsignedXml } from './invoice-json.js';
import { issue, type Offer, type Prepared, submitter } from './issue.js';
import { checkNumberRanges } from './number-ranges.js';
import { checkReference, drawsOn, type ReferenceCheck } from './referenced-document.js';

export interface JsonSubmission {
  readonly caller: Caller;
  readonly env: Environment;
  /** The bytes of the part `data`. */
  readonly data: Uint8Array;
  /** Null to sign with the taxpayer's stored certificate. */
  readonly certificate: UploadedCertificate | null;
  readonly dryRun: boolean;
}

export type IssuedJson =
  /** A dry run that found nothing wrong. */
  | { readonly outcome: 'checked'; readonly invoice: Invoice; readonly warnings: readonly Fault[] }
  | {
      readonly outcome: 'issued';
      readonly attempt: Attempt;
      readonly tokens: TokenSource;
      readonly signed: SignedInvoice;
    }
  /** Issued before. Without a certificate for the login the result cannot be queried. */
  | { readonly outcome: 'repeated'; readonly attempt: Attempt; readonly tokens: TokenSource | null };

export type IssueJson = (submission: JsonSubmission) => Promise<IssuedJson>;

/** Invoice JSON in; signed, committed and sent e-CF out. Does not wait for the verdict. */
export function createIssueJson(ports: Ports, taxpayers: Taxpayers, certificates: Certificates): IssueJson {
  return async ({ caller, env, data, certificate: upload, dryRun }) => {
    const invoice = readInvoiceJson(data, env, ports.clock());
    const taxpayer = await taxpayers.require(caller, invoice.key.issuerRnc);
    const uploaded = upload === null ? null : certificates.uploaded(upload);
    let signed: SignedInvoice | null = null;
    const offer: Offer = {
      key: invoice.key,
      draws: drawsOn(invoice.key, invoice.summary),
      isSame: (existing) => existing.contentHash === invoice.contentHash,
      check: async () => ({
        faults: checkNumberRanges(
          taxpayer.ranges,
          invoice.key,
          invoice.type,
          invoice.tree,
          toCalendarDate(ports.clock()),
        ),
        reference: await checkReference(ports.emissions, invoice.key, invoice.summary, invoice.tree),
      }),
      async prepare(reference) {
        const certificate = uploaded ?? certificates.stored(taxpayer);
        const owner = { account: caller.accountId, rnc: taxpayer.rnc };
        const tokens = certificateTokens(ports, { env, ...owner, certificate });
        const token = await tokens.get().catch((error) => {
          throw loginFailure(error);
        });
        await ports.recordUse({ ...owner, use: 'ecf', certificate });
        const began = performance.now();
        signed = await signInvoice(withWarnings(invoice, reference), certificate, ports.clock());
        ports.observer.signed((performance.now() - began) / 1_000);
        return prepared(ports, {
          caller,
          invoice,
          taxpayer,
          reference,
          signed,
          certificate,
          uploaded: uploaded !== null,
          token,
          tokens,
        });
      },
    };
    const issued = await issue(ports, offer, { dryRun });
    if (issued.outcome === 'checked') {
      const { notBefore, notAfter } = uploaded ?? certificates.stored(taxpayer);
      const stated = textOf(groupOf(invoice.tree, 'ECF'), 'FechaHoraFirma');
      const warnings = [...invoice.warnings, ...signingTimeWarnings(stated, notBefore, notAfter), ...issued.warnings];
      return { outcome: 'checked', invoice, warnings };
    }
    const { attempt } = issued;
    if (issued.outcome === 'issued')
      return { outcome: 'issued', attempt, tokens: issued.prepared.tokens, signed: signed as unknown as SignedInvoice };
    return { outcome: 'repeated', attempt, tokens: tokensForRepeat(attempt, taxpayer, uploaded) };
  };

  /** A repeat queries the result if there is a certificate for the login. */
  function tokensForRepeat(
    attempt: Attempt,
    taxpayer: TaxpayerState,
    uploaded: SigningCertificate | null,
  ): TokenSource | null {
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

export type SubmitJson = (submission: JsonSubmission) => Promise<SubmissionAnswer>;

/** `POST /fe_Submit`: issues the invoice, waits a while for the verdict, and answers. */
export function createSubmitJson(ports: Ports, issueJson: IssueJson, followUp: FollowUp): SubmitJson {
  return async (submission) => {
    for (;;) {
      const issued = await issueJson(submission);
      if (issued.outcome === 'checked') {
        const { invoice, warnings } = issued;
        return { ...checkedAnswer(invoice.key.encf, warnings), xml: unsignedXml(invoice, ports.clock()) };
      }
      const isNew = issued.outcome === 'issued';
      const sent = isNew ? issued.attempt : await awaitSend(ports, issued.attempt);
      const attempt = await awaitVerdict(ports, followUp, sent, issued.tokens, answerDeadline(ports, sent));
      // The number of a withdrawn attempt is free, so the request starts again.
      if (isNew || attempt.state !== 'withdrawn') return submissionAnswer(ports, attempt, isNew ? issued.signed : null);
    }
  };
}

function withWarnings(invoice: Invoice, { warnings }: ReferenceCheck): Invoice {
  return warnings.length === 0 ? invoice : { ...invoice, warnings: [...invoice.warnings, ...warnings] };
}

interface Parts {
  caller: Caller;
  invoice: Invoice;
  taxpayer: TaxpayerState;
  reference: ReferenceCheck;
  signed: SignedInvoice;
  certificate: SigningCertificate;
  uploaded: boolean;
  token: string;
  tokens: TokenSource;
}

function prepared(ports: Pick<Ports, 'clock' | 'sealer'>, parts: Parts): Prepared {
  const { caller, invoice, taxpayer, reference, signed, certificate, uploaded, token, tokens } = parts;
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
      hasOwnCertificate: uploaded,
      modifies: reference.modifies,
      modifiedAttempt: reference.modifiedAttempt,
      ...submitter(caller),
      ...key,
    },
    files: rfce === null ? [xml] : [xml, rfce],
    sent: (rfce ?? xml).bytes,
    sealedCertificate: uploaded
      ? ports.sealer.seal(serialiseCertificate(certificate), requestCertificate(caller.accountId, key.issuerRnc))
      : null,
    token,
    tokens,
  };
}
