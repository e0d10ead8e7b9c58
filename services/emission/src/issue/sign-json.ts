import type { TokenProvider } from '@ecf/authority-client';
import { requestCertificate } from '@ecf/kit';
import type { RecordCertificateUse } from '@ecf/taxpayer-replica';
import { type SigningCertificate, serialiseCertificate } from '@ecf/xml-signing';
import { type Attempt, archived } from '../attempt/attempt.js';
import type { Observer } from '../attempt/ports.js';
import type { TokenBeforeSigning, TokenOrWait } from '../contingency/token-or-wait.js';
import type { Certificates } from '../credentials/certificates.js';
import type { Sealer } from '../credentials/ports.js';
import { certificateTokens, type TokenSource } from '../credentials/token-source.js';
import { refuseWarnings } from '../errors.js';
import { rangeEndWarnings } from '../numbers/number-ranges.js';
import type { ReferenceCheck } from '../references/referenced-document.js';
import { type KnownDocuments, usedAtAuthority } from '../restored/known-documents.js';
import { type Invoice, signInvoice } from './invoice-json.js';
import { type Signed, submitter } from './issue.js';
import type { Order } from './json-submission.js';

/** Signs invoices and logs in for them, with the certificate of the request, else the taxpayer's stored one. */
export interface SignJson {
  /** @throws EmissionError 503 `certificate_*` without a certificate that can sign now */
  certificateOf(order: Order): SigningCertificate;
  /** A token for the submission; or, if the document may wait, since when the authority is unreachable. @throws EmissionError */
  logIn(order: Order, invoice: Invoice): Promise<{ readonly login: TokenOrWait; readonly tokens: TokenSource }>;
  /** Tokens to query the result of a document that was issued before; null without a certificate. */
  tokensFor(order: Order, attempt: Attempt): TokenSource | null;
  /**
   * @param isDrawn the number was drawn for this document, so the authority cannot have another one under it
   * @throws EmissionError 409 `encf_already_used` if the authority accepted another document, which a restore lost
   */
  sign(
    order: Order,
    invoice: Invoice,
    reference: ReferenceCheck,
    previous: Attempt | null,
    isDrawn: boolean,
  ): Promise<Signed>;
}

export function createSignJson({
  certificates,
  tokens: provider,
  tokenBeforeSigning,
  recordUse,
  sealer,
  known,
  observer,
  clock,
}: {
  readonly certificates: Certificates;
  readonly tokens: TokenProvider;
  readonly tokenBeforeSigning: TokenBeforeSigning;
  /** Called before every signature. */
  readonly recordUse: RecordCertificateUse;
  readonly sealer: Sealer;
  readonly known: KnownDocuments;
  readonly observer: Observer;
  readonly clock: () => Date;
}): SignJson {
  const certificateOf = ({ uploaded, taxpayer }: Order) => uploaded ?? certificates.stored(taxpayer);

  async function logIn(order: Order, { key, route }: Invoice) {
    const { caller, taxpayer, mayWait } = order;
    const certificate = certificateOf(order);
    const tokens = certificateTokens(provider, {
      env: key.env,
      account: caller.accountId,
      rnc: taxpayer.rnc,
      certificate,
    });
    return { tokens, login: await tokenBeforeSigning({ env: key.env, route }, tokens, mayWait) };
  }

  return {
    certificateOf,
    logIn,
    tokensFor(order, { env, accountId, issuerRnc }) {
      try {
        const certificate = certificateOf(order);
        return certificateTokens(provider, { env, account: accountId, rnc: issuerRnc, certificate });
      } catch {
        return null;
      }
    },
    async sign(order, invoice, reference, previous, isDrawn) {
      const { caller, taxpayer, uploaded, batchLine } = order;
      const { key, type, tree, route } = invoice;
      const { tokens, login } = await logIn(order, invoice);
      const { date_issued: dateIssued, buyer_rnc: buyerRnc } = invoice.summary;
      const wanted = { key, route, dateIssued, buyerRnc, securityCode: null, previous };
      const accepted = isDrawn ? null : await known.find(wanted, login.token, tokens);
      const certificate = certificateOf(order);
      await recordUse({ account: caller.accountId, rnc: taxpayer.rnc, use: 'ecf', certificate });
      const began = performance.now();
      const now = clock();
      const ending = login.since === null ? [] : rangeEndWarnings(taxpayer.ranges, key, type, tree, now);
      const warnings = [...invoice.warnings, ...reference.warnings, ...ending];
      // The same document has the same signature if it is signed at the same time with the same certificate.
      const signedAt = accepted?.signedAt ?? now;
      const signed = await signInvoice({ ...invoice, warnings }, certificate, signedAt, previous?.signedAt);
      const { securityCode } = signed.facts;
      if (accepted !== null && accepted.securityCode !== securityCode) throw usedAtAuthority(key);
      const isKnown =
        accepted !== null || (!isDrawn && (await known.hasSummary(wanted, securityCode, login.token, tokens)));
      // Some warnings are known only now, for example that of another signing time.
      if (order.refusesWarnings) refuseWarnings(signed.facts.warnings, batchLine !== null);
      observer.signed((performance.now() - began) / 1_000);
      const storedAt = clock();
      const xml = archived('ecf', key, Buffer.from(signed.xml), storedAt);
      const rfce = signed.rfceXml === null ? null : archived('rfce', key, Buffer.from(signed.rfceXml), storedAt);
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
          batchLine,
          ownReference: order.ownReference,
          ...submitter(caller),
          ...key,
        },
        files: rfce === null ? [xml] : [xml, rfce],
        sent: (rfce ?? xml).bytes,
        sealedCertificate:
          uploaded && sealer.seal(serialiseCertificate(uploaded), requestCertificate(caller.accountId, key.issuerRnc)),
        token: login.token,
        tokens,
        maintenanceUntil: login.until,
        isKnown,
      };
    },
  };
}
