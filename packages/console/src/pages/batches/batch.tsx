import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { type Batch, COUNTS, useBatch, useCancelBatch } from '../../data/batches.js';
import { useMay } from '../../data/place.js';
import { Confirm } from '../../ui/confirm.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import './batches.css';
import { BatchStatus, Progress } from './progress.js';
import { RefusedFile } from './refused-file.js';
import { Results } from './results.js';

const route = getRouteApi('/batches/$id');

/** A batch: its progress, its counts as filters, and the results of its lines. */
export function BatchPage() {
  const words = useTranslations('batches');
  const { id } = route.useParams();
  const batch = useBatch(id);
  const { only, after } = route.useSearch();
  const count = COUNTS.find((one) => one === only);
  return (
    <>
      <p className="quiet">
        <Link to="/batches">{words('title')}</Link>
      </p>
      <Loaded query={batch}>
        {(data) => (
          <>
            <Heading batch={data} />
            <Counts batch={data} />
            <Results batch={data} only={count} after={after} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Heading({ batch }: { batch: Batch }) {
  const words = useTranslations('batches');
  const { moment } = useFormats();
  const { batch_id, created_at, finished_at, validate, refused } = batch;
  return (
    <header className="heading">
      <div>
        <p className="quiet">{validate ? words('checkOnly') : words('sent')}</p>
        <h1>{words('named', { id: batch_id })}</h1>
        <dl className="pairs">
          <dt>{words('created')}</dt>
          <dd>{moment(created_at)}</dd>
          {finished_at !== null && (
            <>
              <dt>{words('finished')}</dt>
              <dd>{moment(finished_at)}</dd>
            </>
          )}
        </dl>
      </div>
      <div className="batch-state">
        <BatchStatus batch={batch} />
        <Progress batch={batch} />
        <div className="actions">
          {refused > 0 && <RefusedFile batchId={batch_id} />}
          {batch.pending > 0 && batch.status === 'processing' && <Cancel batch={batch} />}
        </div>
      </div>
    </header>
  );
}

function Counts({ batch }: { batch: Batch }) {
  const words = useTranslations('batches');
  const { number } = useFormats();
  const { only } = route.useSearch();
  const params = { id: batch.batch_id };
  const shown = COUNTS.filter((count) => batch[count] > 0);
  return (
    <nav className="counts" aria-label={words('filter')}>
      {[undefined, ...shown].map((count) => (
        <Link
          key={count ?? 'all'}
          to="/batches/$id"
          params={params}
          search={count && { only: count }}
          activeOptions={{ exact: true }}
          aria-current={only === count ? 'true' : undefined}
        >
          <strong>{number(count === undefined ? batch.total : batch[count])}</strong>
          <span>{countName(count, batch, words)}</span>
        </Link>
      ))}
    </nav>
  );
}

function countName(
  count: (typeof COUNTS)[number] | undefined,
  { validate }: Batch,
  words: ReturnType<typeof useTranslations<'batches'>>,
): string {
  if (count === undefined) return words('counts.all');
  return count === 'accepted' && validate ? words('counts.valid') : words(`counts.${count}`);
}

function Cancel({ batch }: { batch: Batch }) {
  const words = useTranslations('batches');
  const [asking, ask] = useState(false);
  const cancel = useCancelBatch(batch.batch_id);
  const maySend = useMay('submit');
  if (!maySend) return null;
  return (
    <>
      <button type="button" onClick={() => ask(true)}>
        {words('cancel')}
      </button>
      {asking && (
        <Confirm
          title={words('cancel')}
          act={words('cancelNow')}
          doing={cancel}
          onConfirm={() => cancel.mutate(undefined, { onSuccess: () => ask(false) })}
          onClose={() => ask(false)}
        >
          <p>{words('cancelWhat')}</p>
        </Confirm>
      )}
    </>
  );
}
