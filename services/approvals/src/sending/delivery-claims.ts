import type { ClaimRequest, DueWorkStore } from '@ecf/service-kit/due-work';
import type { ClaimedDelivery, Delivery } from '../buyers/delivery.js';
import type { DeliveryPorts } from '../buyers/delivery-ports.js';
import type { DeliverySlots } from './slots.js';

/** Between two looks for deliveries past their deadline whose receivers get no calls. */
const GIVING_UP_MS = 1_000;

type ClaimPorts = Pick<
  DeliveryPorts,
  'deliveries' | 'deliveryObserver' | 'deliverySettings' | 'clock' | 'elapsed' | 'checkpoint'
>;

/** Claims due deliveries for the free slots, renews leases, and gives up what is past its deadline. */
export function createDeliveryClaims(
  ports: ClaimPorts,
  slots: Pick<DeliverySlots, 'free' | 'paused'>,
  inFlight: () => readonly ClaimedDelivery[],
): Required<Pick<DueWorkStore<ClaimedDelivery>, 'claimDue' | 'renew'>> {
  const { leaseMs } = ports.deliverySettings;
  let gaveUpAt = Number.NEGATIVE_INFINITY;
  /** When leases were renewed last, by elapsed time. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** Since when the database was away, and until when other instances may still have to renew their leases. */
  let away: { readonly since: Date; readonly until: number } | null = null;

  async function claimDue(request: ClaimRequest): Promise<ClaimedDelivery[]> {
    try {
      // First the leases of this instance, or another one claims what is in flight here.
      if (ports.elapsed() - renewedAt > leaseMs / 2) await renew(inFlight(), request.until);
      await giveUp();
      return await claim(request);
    } catch (error) {
      away = { since: away?.since ?? ports.clock(), until: ports.elapsed() + leaseMs / 2 };
      throw error;
    }
  }

  async function claim(request: ClaimRequest): Promise<ClaimedDelivery[]> {
    if (away !== null && away.until < ports.elapsed()) away = null;
    const lapsedBy = away?.since ?? request.now;
    const present = inFlight();
    const claimed = await ports.deliveries.claimDue({
      ...request,
      lapsedBy,
      inFlight: present.map(({ id }) => id),
      ...slots.free(present),
    });
    if (claimed.length > 0) await ports.checkpoint('claimed');
    return claimed;
  }

  /** Leases are short, so that another instance soon takes over from one that crashed. */
  async function renew(claims: readonly ClaimedDelivery[], until: Date): Promise<void> {
    const began = ports.elapsed();
    if (claims.length > 0) await ports.deliveries.renewLeases([...claims], until);
    renewedAt = began;
  }

  /** Single probes would take weeks to reach every delivery of a receiver that never answers. */
  async function giveUp(): Promise<void> {
    const paused = slots.paused();
    if (ports.elapsed() - gaveUpAt < GIVING_UP_MS || paused.buyers.length + paused.hosts.length === 0) return;
    gaveUpAt = ports.elapsed();
    const failed: Delivery[] = await ports.deliveries.giveUp({ now: ports.clock(), ...paused });
    for (const delivery of failed) ports.deliveryObserver.changed(delivery, delivery.status);
  }

  return { claimDue, renew };
}
