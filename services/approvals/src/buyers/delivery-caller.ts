import type { EmissionOperations } from '@ecf/contracts';
import type { TaxpayerSource } from '@ecf/http';
import type { Certificates, TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import { messageOf } from '../errors.js';
import type { Caller } from '../sending/endpoint-logins.js';
import type { Outgoing } from '../sending/outgoing.js';

export interface DeliveryCallerParts {
  readonly taxpayers: TaxpayerReplica;
  /** Null in a deployment without gateway. */
  readonly source: TaxpayerSource | null;
  readonly certificates: Certificates;
  readonly emission: Pick<EmissionOperations, 'sealedCertificate'>;
  /** Opens a certificate that came with a document. Throws where no key opens it. */
  readonly openRequestCertificate: (sealed: Uint8Array, owner: { account: string; rnc: string }) => SigningCertificate;
  readonly clock: () => Date;
}

/**
 * The issuer in whose name a document is delivered, with its stored certificate, or else the one that came with the document.
 * A taxpayer that was deactivated since still has its accepted documents delivered. If there is no certificate, a text says
 * what is missing.
 */
export type DeliveryCaller = (delivery: Outgoing) => Promise<Caller | string>;

export function createDeliveryCaller(parts: DeliveryCallerParts): DeliveryCaller {
  const { taxpayers, source, certificates, emission, clock } = parts;

  async function issuerOf(rnc: string) {
    const known = await taxpayers.taxpayer(rnc);
    if (known !== null) return known;
    const taxpayer = (await source?.taxpayer(rnc).catch(() => null)) ?? null;
    if (taxpayer !== null) await taxpayers.replaceTaxpayer(taxpayer);
    return taxpayer;
  }

  /** The certificate that came with the document, while emission keeps it and it is valid. A text says what is missing. */
  async function certificateOfRequest({ key, accountId }: Outgoing): Promise<SigningCertificate | string> {
    const { env, issuerRnc, encf, run } = key;
    try {
      const { sealed } = await emission.sealedCertificate({ env, issuer_rnc: issuerRnc, encf, run });
      if (sealed === null) return 'None is kept for the document either.';
      const owner = { account: accountId, rnc: issuerRnc };
      const certificate = parts.openRequestCertificate(Buffer.from(sealed, 'base64'), owner);
      return certificate.notAfter > clock() ? certificate : 'That of the document has expired.';
    } catch (error) {
      return messageOf(error);
    }
  }

  return async (delivery) => {
    const { key, accountId } = delivery;
    const issuer = await issuerOf(key.issuerRnc);
    if (issuer === null || issuer.account_id !== accountId) return `${key.issuerRnc} is not known here (yet)`;
    const caller = { env: key.env, account: accountId, rnc: issuer.rnc };
    try {
      return { ...caller, certificate: certificates.open(issuer, clock()) };
    } catch (error) {
      const certificate = await certificateOfRequest(delivery);
      if (typeof certificate !== 'string') return { ...caller, certificate };
      return `${messageOf(error)} ${certificate} Upload one in the administration; the gateway then resumes the delivery.`;
    }
  };
}
