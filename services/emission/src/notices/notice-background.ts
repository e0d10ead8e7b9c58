import type { NumberRange, TaxpayerState } from '@ecf/contracts';
import { type CalendarDate, toCalendarDate, toIsoDominican } from '@ecf/domain';
import { createDueWork, type DueWork } from '@ecf/service-kit/due-work';
import { taxpayerCertificate } from '@ecf/service-kit/security';
import type { Certificates } from '../credentials/certificates.js';
import type { Ports } from '../ports.js';
import {
  certificateEndsSoon,
  endsSoon,
  lowAt,
  type NoticeStore,
  type RangeState,
  type TaxpayerNotices,
  type WatchedTaxpayer,
} from './notices.js';

/** The time between two checks of a taxpayer. One that took numbers or changed is checked soon. */
export const WATCH_EVERY_MS = 3_600_000;
const LOOK_MS = 10_000;

/** Publishes notices about ranges and certificates that end soon. */
export function createNoticeBackground(
  ports: Pick<Ports, 'numbers' | 'taxpayers' | 'observer' | 'clock'> & { readonly notices: NoticeStore },
  certificates: Pick<Certificates, 'unsealed'>,
): DueWork<WatchedTaxpayer> {
  const { notices, numbers, taxpayers, observer, clock } = ports;

  async function rangesOf(taxpayer: TaxpayerState, today: CalendarDate): Promise<RangeState[]> {
    const open = taxpayer.ranges.filter(({ expires }) => expires === null || expires >= today);
    const near = await notices.nearEnd(taxpayer.rnc, open);
    const looked = open.filter((range, index) => near[index] || endsSoon(range, today));
    const left = await numbers.left(taxpayer.rnc, looked);
    const leftOf = new Map<NumberRange, RangeState['left']>(looked.map((range, index) => [range, left[index] ?? null]));
    return open.map((range) => {
      const found = leftOf.get(range) ?? null;
      const low = found !== null && found.remaining <= lowAt(range);
      return { range, low, endsSoon: endsSoon(range, today), left: found };
    });
  }

  function certificateOf(
    taxpayer: TaxpayerState,
    { notifiedCertificate }: WatchedTaxpayer,
    now: Date,
  ): TaxpayerNotices['certificate'] {
    const { certificate, fingerprint } = taxpayer;
    if (certificate === null || fingerprint === notifiedCertificate) return null;
    try {
      const opened = certificates.unsealed(Buffer.from(certificate, 'base64'), taxpayerCertificate(taxpayer));
      if (!certificateEndsSoon(opened.notAfter, now)) return null;
      return {
        subject: opened.subject,
        serial_number: opened.serialNumber,
        not_before: toIsoDominican(opened.notBefore),
        not_after: toIsoDominican(opened.notAfter),
        fingerprint: opened.fingerprint,
      };
    } catch (error) {
      observer.failed('opening a certificate to read its end', error);
      return null;
    }
  }

  async function handle(watched: WatchedTaxpayer): Promise<void> {
    const now = clock();
    const taxpayer = await taxpayers.taxpayer(watched.rnc);
    if (taxpayer?.active && taxpayer.account_active) {
      const ranges = await rangesOf(taxpayer, toCalendarDate(now));
      const certificate = certificateOf(taxpayer, watched, now);
      await notices.publish({ rnc: taxpayer.rnc, accountId: taxpayer.account_id, ranges, certificate }, now);
    }
    await notices.done(watched, new Date(now.getTime() + WATCH_EVERY_MS));
  }

  return createDueWork<WatchedTaxpayer>({
    store: notices,
    handle,
    onError: (error) => observer.failed('looking at ranges and certificates that end', error),
    clock,
    leaseMs: 60_000,
    idleMs: LOOK_MS,
    concurrency: 2,
  });
}
