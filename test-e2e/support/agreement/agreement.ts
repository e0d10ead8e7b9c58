import { goesToBuyer } from '@ecf/domain';
import type { LedgerRow } from '../client.js';
import { keyOf, type StoredEverywhere, statusOf } from './stored-everywhere.js';

export type LedgerEntry = LedgerRow & { encf: string };

/** The number of compared rows, and the differences. */
export interface Agreement {
  compared: Record<string, number>;
  differences: unknown[];
}

/** Compares two tables of the same documents, row by row in both directions. */
function unlike<L extends object, R extends object>(
  what: string,
  left: readonly L[],
  right: readonly R[],
  keys: { left: (row: L) => string; right: (row: R) => string },
  alike: (left: L, right: R) => boolean,
): unknown[] {
  const others = new Map(right.map((row) => [keys.right(row), row]));
  const differences: unknown[] = [];
  if (others.size !== right.length) differences.push({ what, twice: right.length - others.size });
  for (const row of left) {
    const other = others.get(keys.left(row));
    others.delete(keys.left(row));
    if (other === undefined || !alike(row, other)) differences.push({ what, row, other: other ?? null });
  }
  return [...differences, ...[...others.values()].map((other) => ({ what, row: null, other }))];
}

/**
 * Compares, document by document, the tables of each owner, the authority's ledger, the read models and the archive. Call it when
 * the authority accepted all documents and all events are published and handled.
 */
export async function agreement(stored: StoredEverywhere, ledger: readonly LedgerEntry[]): Promise<Agreement> {
  // The owners are read first: their later changes may be in the read models, but not the other way round.
  const emitted = await stored.emitted();
  const polled = await stored.polled();
  const [deliveries, received] = [await stored.delivered('approvals'), await stored.received('reception')];
  const models = await stored.readModels();
  const [projected, shown] = [await stored.delivered('query'), await stored.received('query')];
  const [rollups, sums] = [await stored.sums('rollups'), await stored.sums('documents')];
  const [ofBuyers, scanned] = [await stored.buyers('rollups'), await stored.buyers('documents')];
  const archive = await stored.archived();

  const effective = ledger.filter((row) => row.effective);
  const wire = (row: { route: string; xml_sha256: string; rfce_sha256: string | null }) =>
    row.route === 'rfce' ? row.rfce_sha256 : row.xml_sha256;
  const both = { left: keyOf, right: keyOf };
  const differences = [
    ...unlike('ledger', emitted, effective, { left: (row) => row.encf, right: (row) => row.encf }, (ours, theirs) => {
      // All submissions under the number had the same bytes.
      const arrived = ledger.filter((row) => row.encf === ours.encf);
      const sameBytes = arrived.every(({ sha256 }) => sha256 === wire(ours));
      const sameTrack = ours.route === 'rfce' ? ours.track_id === null : ours.track_id === theirs.track_id;
      return ours.state === 'accepted' && sameBytes && sameTrack;
    }),
    ...unlike(
      'read model',
      emitted,
      models,
      both,
      (ours, model) =>
        model.listed &&
        model.settled &&
        model.status === statusOf(ours.state) &&
        model.revision === ours.revision &&
        model.route === ours.route &&
        model.track_id === ours.track_id &&
        Number(model.total) === Number(ours.total) &&
        model.xml_path === ours.xml_path &&
        model.xml_checksum === ours.xml_sha256 &&
        model.rfce_path === ours.rfce_path &&
        model.rfce_checksum === ours.rfce_sha256,
    ),
    ...emitted
      .filter(
        ({ xml_path, xml_sha256, rfce_path, rfce_sha256 }) =>
          archive.get(xml_path) !== xml_sha256 || (rfce_path !== null && archive.get(rfce_path) !== rfce_sha256),
      )
      .map((row) => ({ what: 'archive', row })),
    ...unlike(
      'trackId',
      emitted.filter(({ track_id }) => track_id !== null),
      // After a lost answer, a resend may have got a second trackId.
      polled.filter(({ track_id }) => effective.some((row) => row.track_id === track_id)),
      { left: (row) => row.track_id as string, right: (row) => row.track_id },
      (ours, theirs) => theirs.final && keyOf(theirs) === keyOf(ours) && theirs.status === statusOf(ours.state),
    ),
    ...polled
      .filter(({ track_id, final }) => !final || !ledger.some((row) => row.track_id === track_id))
      .map((row) => ({ what: 'trackId of nothing, or undecided', row })),
    ...unlike(
      'delivery',
      emitted.filter(({ route, ecf_type, buyer_rnc }) =>
        goesToBuyer({ route, ecfType: ecf_type, buyerRnc: buyer_rnc }),
      ),
      deliveries,
      both,
      () => true,
    ),
    ...unlike('delivery', deliveries, projected, both, (ours, model) => {
      return model.status === ours.status && model.revision === ours.revision;
    }),
    ...unlike(
      'received',
      received,
      shown,
      both,
      (ours, model) =>
        model.buyer_rnc === ours.buyer_rnc &&
        model.revision === ours.revision &&
        model.sha256 === ours.sha256 &&
        archive.get(ours.xml_path) === ours.sha256,
    ),
    ...(JSON.stringify(rollups) === JSON.stringify(sums) ? [] : [{ what: 'rollups', rollups, sums }]),
    ...(JSON.stringify(ofBuyers) === JSON.stringify(scanned) ? [] : [{ what: 'sums of buyers', ofBuyers, scanned }]),
  ];
  return {
    compared: {
      'documents of emission': emitted.length,
      'read models': models.length,
      'submissions in the ledger': ledger.length,
      'of them effective': effective.length,
      'trackIds of the poller': polled.length,
      deliveries: deliveries.length,
      'of them delivered': deliveries.filter(({ status }) => status === 'delivered').length,
      'documents received': received.length,
      'sums by type and status': sums.length,
      'sums of buyers': scanned.length,
      'objects in the archive': archive.size,
    },
    differences,
  };
}
