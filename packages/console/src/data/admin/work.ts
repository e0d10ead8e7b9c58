import { bodyOf } from '../gateway.js';
import { type AdminSchemas, administration, type Item } from './gateway.js';

type Env = AdminSchemas['Environment'];
/** A document by its number. */
type Name = { env: Env; issuer_rnc: string; encf: string };

const PER_PAGE = 50;
const pageFrom = (after: string | undefined) => ({ limit: PER_PAGE, ...(after && { after: Number(after) }) });

export const listAlarmed = (after?: string) =>
  bodyOf(administration.GET('/admin/documents/alarmed', { params: { query: pageFrom(after) } }));
export type AlarmedDocument = Item<typeof listAlarmed, 'documents'>;

/** With a trackId the gateway adopts it; without one it sends the same bytes again. */
export const resolveDocument = ({ env, issuer_rnc, encf, run }: AlarmedDocument, trackId: string | null) =>
  bodyOf(
    administration.POST('/admin/documents/resolve', {
      body: {
        env,
        issuer_rnc,
        encf,
        run,
        ...(trackId === null ? { action: 'resend' } : { action: 'adopt', track_id: trackId }),
      },
    }),
  );

export type Delivery = AdminSchemas['Delivery'];
export type DeliveryFilters = { status?: string; encf?: string; buyer?: string; before?: string };

export const listDeliveries = ({ status, encf, buyer, before }: DeliveryFilters) =>
  bodyOf(
    administration.GET('/admin/deliveries', {
      params: {
        query: {
          limit: PER_PAGE,
          ...(status && { status: status as Delivery['delivery_status'] }),
          ...(encf && { encf }),
          ...(buyer && { buyer_rnc: buyer }),
          ...(before && { before: Number(before) }),
        },
      },
    }),
  );

export const retryDelivery = ({ env, issuer_rnc, encf }: Name) =>
  bodyOf(administration.POST('/admin/deliveries/retry', { body: { env, issuer_rnc, encf } }));

export const listDoubtful = (settled: boolean, after?: string) =>
  bodyOf(
    administration.GET('/admin/cancellations/doubtful', {
      params: { query: { ...pageFrom(after), settled: settled ? 'true' : 'false' } },
    }),
  );
export type DoubtfulCancellation = Item<typeof listDoubtful, 'cancellations'>;

/** Numbers from the first to the last. */
export interface Numbers {
  encf_desde: string;
  encf_hasta: string;
}

/** `refused`: the numbers that are not annulled, of a partial outcome. */
export const settleCancellation = (
  id: number,
  outcome: 'accepted' | 'rejected' | 'partial',
  refused: Numbers[],
  note: string,
) =>
  bodyOf(
    administration.POST('/admin/cancellations/settle', {
      body: { id, outcome, note, ...(outcome === 'partial' && { refused }) },
    }),
  );

export const APPROVALS_SHOWN = ['undecided', 'undelivered', 'settled'] as const;
export type ApprovalsShown = (typeof APPROVALS_SHOWN)[number];

export const listApprovals = (show: ApprovalsShown, after?: string) =>
  bodyOf(
    administration.GET('/admin/approvals/undecided', {
      params: {
        query: {
          ...pageFrom(after),
          ...(show === 'settled' && { settled: 'true' as const }),
          ...(show === 'undelivered' && { undelivered: 'true' as const }),
        },
      },
    }),
  );
export type GivenApproval = Item<typeof listApprovals, 'approvals'>;

export const settleApproval = (id: number, outcome: 'accepted' | 'rejected', note: string) =>
  bodyOf(administration.POST('/admin/approvals/settle', { body: { id, outcome, note } }));

export const retryApproval = (id: number) => bodyOf(administration.POST('/admin/approvals/retry', { body: { id } }));
