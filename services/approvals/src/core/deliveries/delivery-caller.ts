import type { SeedSigner } from '@ecf/authority-client/login';
import { ApiError } from '@ecf/service-kit/errors';
import { messageOf } from '../errors.js';
import type { Caller } from '../receivers/receiver-logins.js';
import type { Delivery } from './delivery.js';
import type { DeliveryPorts } from './delivery-ports.js';

type CallerPorts = Pick<DeliveryPorts, 'taxpayers' | 'source' | 'certificates' | 'signing' | 'clock'>;

/**
 * The issuer in whose name a document is delivered, with its stored certificate, or else the one that came with the document.
 * A taxpayer that was deactivated since still has its accepted documents delivered. Where nobody can sign, a text says what is
 * missing.
 */
export async function deliveryCaller(ports: CallerPorts, { key, accountId }: Delivery): Promise<Caller | string> {
  const issuer = (await ports.taxpayers.taxpayer(key.issuerRnc)) ?? (await fromSource(ports, key.issuerRnc));
  if (issuer === null || issuer.account_id !== accountId) return `${key.issuerRnc} is not known here (yet)`;
  const caller = { env: key.env, account: accountId, rnc: issuer.rnc };
  try {
    return { ...caller, certificate: ports.certificates.open(issuer, ports.clock()) };
  } catch (error) {
    const signer = await signerOfDocument(ports, key);
    if (typeof signer !== 'string') return { ...caller, certificate: signer };
    return `${messageOf(error)} ${signer} Upload one in the administration; the gateway then resumes the delivery.`;
  }
}

/** Emission signs seeds with the certificate that came with a document. A text says why it cannot. */
async function signerOfDocument(
  { signing }: CallerPorts,
  { env, issuerRnc, encf, run }: Delivery['key'],
): Promise<SeedSigner | string> {
  const document = { env, issuer_rnc: issuerRnc, encf, run };
  try {
    const { fingerprint } = await signing.signSeed({ ...document, seed: null });
    return {
      fingerprint,
      signSeed: async (seed) => {
        const { signed_seed: signed } = await signing.signSeed({ ...document, seed });
        if (signed === null) throw new Error('emission signed nothing');
        return signed;
      },
    };
  } catch (error) {
    return error instanceof ApiError && error.code === 'certificate_missing'
      ? 'None is kept for the document either.'
      : messageOf(error);
  }
}

async function fromSource({ source, taxpayers }: CallerPorts, rnc: string) {
  const taxpayer = (await source?.taxpayer(rnc).catch(() => null)) ?? null;
  if (taxpayer !== null) await taxpayers.replaceTaxpayer(taxpayer);
  return taxpayer;
}
