import type { SigningCertificate } from '@ecf/xml-signing';
import { messageOf } from '../errors.js';
import type { Caller } from '../sending/endpoint-logins.js';
import type { Delivery } from './delivery.js';
import type { DeliveryPorts } from './delivery-ports.js';

type CallerPorts = Pick<
  DeliveryPorts,
  'taxpayers' | 'source' | 'certificates' | 'emission' | 'openRequestCertificate' | 'clock'
>;

/**
 * The issuer in whose name a document is delivered, with its stored certificate, or else the one that came with the document.
 * A taxpayer that was deactivated since still has its accepted documents delivered. If there is no certificate, a text says
 * what is missing.
 */
export async function deliveryCaller(ports: CallerPorts, delivery: Delivery): Promise<Caller | string> {
  const { key, accountId } = delivery;
  const issuer = (await ports.taxpayers.taxpayer(key.issuerRnc)) ?? (await fromSource(ports, key.issuerRnc));
  if (issuer === null || issuer.account_id !== accountId) return `${key.issuerRnc} is not known here (yet)`;
  const caller = { env: key.env, account: accountId, rnc: issuer.rnc };
  try {
    return { ...caller, certificate: ports.certificates.open(issuer, ports.clock()) };
  } catch (error) {
    const signer = await certificateOfRequest(ports, delivery);
    if (typeof signer !== 'string') return { ...caller, certificate: signer };
    return `${messageOf(error)} ${signer} Upload one in the administration; the gateway then resumes the delivery.`;
  }
}

/** The certificate that came with the document, while emission keeps it and it is valid. A text says what is missing. */
async function certificateOfRequest(
  { emission, openRequestCertificate, clock }: CallerPorts,
  { key: { env, issuerRnc, encf, run }, accountId }: Delivery,
): Promise<SigningCertificate | string> {
  try {
    const { sealed } = await emission.sealedCertificate({ env, issuer_rnc: issuerRnc, encf, run });
    if (sealed === null) return 'None is kept for the document either.';
    const certificate = openRequestCertificate(Buffer.from(sealed, 'base64'), { account: accountId, rnc: issuerRnc });
    return certificate.notAfter > clock() ? certificate : 'That of the document has expired.';
  } catch (error) {
    return messageOf(error);
  }
}

async function fromSource({ source, taxpayers }: CallerPorts, rnc: string) {
  const taxpayer = (await source?.taxpayer(rnc).catch(() => null)) ?? null;
  if (taxpayer !== null) await taxpayers.replaceTaxpayer(taxpayer);
  return taxpayer;
}
