import type { Ports } from '../ports.js';
import type { Caller } from '../receivers/receiver-logins.js';
import type { GivenApproval } from './given-approval.js';

/**
 * In whose name an approval is sent: the buyer as last heard of, since what was signed is still sent for a taxpayer that was
 * deactivated since. Null where it has no certificate that can sign now.
 */
export async function callerFor(
  ports: Pick<Ports, 'taxpayers' | 'certificates' | 'observer' | 'clock'>,
  { key, accountId }: GivenApproval,
): Promise<Caller | null> {
  const buyer = await ports.taxpayers.taxpayer(key.buyerRnc);
  if (buyer === null || buyer.account_id !== accountId) return null;
  try {
    const certificate = ports.certificates.open(buyer, ports.clock());
    return { env: key.env, account: accountId, certificate };
  } catch (error) {
    ports.observer.failed('opening a certificate', error);
    return null;
  }
}
