import { createHash } from 'node:crypto';
import type { AuditAct, ServiceName } from '@ecf/contracts';

/**
 * What a certificate signs: `ecf` an e-CF and its summary, `anecf` a cancellation, `arecf` an acknowledgement, `acecf` an
 * approval, `login` a seed of the authority, `receiver_login` a seed of a buyer's receiver.
 */
export type CertificateUseClass = 'ecf' | 'anecf' | 'arecf' | 'acecf' | 'login' | 'receiver_login';

/** The use of a certificate in the name of a taxpayer, whether it is stored or came with a request. */
export interface CertificateUse {
  readonly account: string;
  readonly rnc: string;
  readonly use: CertificateUseClass;
  /** The host of the receiver whose seed is signed; only with `receiver_login`. */
  readonly host?: string;
  readonly certificate: { readonly fingerprint: string };
}

/**
 * Records a use before the signature is made: the audit log gets one entry for each taxpayer, class, certificate, host and
 * Dominican day. Resolves when the entry is certain. Rejects if the database cannot be reached: then nothing must be signed.
 */
export type RecordCertificateUse = (use: CertificateUse) => Promise<void>;

/** The act of a use, and the id of its event. Every instance and service makes the same id, and the gateway appends one. */
export function certificateUseAct(
  service: ServiceName,
  { account, rnc, use, host, certificate: { fingerprint } }: CertificateUse,
  { at, day }: { readonly at: string; readonly day: string },
): { readonly id: string; readonly act: AuditAct } {
  const name = JSON.stringify([
    'certificate.use',
    account,
    rnc,
    use,
    fingerprint,
    day,
    ...(host === undefined ? [] : [host]),
  ]);
  const hex = createHash('sha256').update(name).digest('hex');
  // The form of a UUID made from a hash: version 8 of RFC 9562.
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  const target = `/accounts/${account}/taxpayers/${rnc}/certificate`;
  const details = { use, day, fingerprint, ...(host === undefined ? {} : { host }) };
  return { id, act: { at, actor: `service:${service}`, action: 'certificate.use', target, details, request_id: null } };
}
