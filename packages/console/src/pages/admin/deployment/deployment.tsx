import { useTranslations } from 'use-intl';
import {
  type MasterKeys,
  olderValues,
  readMasterKeys,
  readRebuild,
  reseal,
  startRebuild,
} from '../../../data/admin/deployment.js';
import { useAdmin } from '../../../data/admin/gateway.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act } from '../act.js';

/** The master keys and the read models of the deployment. */
export function Deployment() {
  const words = useTranslations('admin.deployment');
  return (
    <>
      <h1>{words('title')}</h1>
      <Keys />
      <ReadModels />
    </>
  );
}

function Keys() {
  const words = useTranslations('admin.deployment');
  const keys = useAdmin(['master-keys'], readMasterKeys);
  return (
    <section>
      <header className="heading">
        <h2>{words('keys')}</h2>
        {keys.data && olderValues(keys.data) > 0 && (
          <Act name={words('reseal')} effect={words('resealEffect')} act={reseal} />
        )}
      </header>
      <Loaded query={keys}>
        {(state) => (
          <>
            <p>
              {words('newest')} <span className="code">{state.key_id}</span>{' '}
              {olderValues(state) === 0 && <span className="status good">{words('allNewest')}</span>}
            </p>
            <Services services={state.services} />
          </>
        )}
      </Loaded>
    </section>
  );
}

type Service = MasterKeys['services'][number];

function Services({ services }: { services: readonly Service[] }) {
  const words = useTranslations('admin.deployment');
  const { number } = useFormats();
  const columns: Column<Service>[] = [
    { head: words('service'), cell: ({ service }) => service },
    { head: words('older'), cell: ({ older }) => number(older), amount: true },
    {
      head: words('instances'),
      cell: ({ instances }) =>
        instances.map(({ id, key_ids }) => (
          <span key={id} className="code instance">
            {id}: {key_ids.join(', ')}
          </span>
        )),
    },
  ];
  return <Table caption={words('keys')} columns={columns} rows={services} rowKey={({ service }) => service} />;
}

const REFRESH_MS = 5_000;

function ReadModels() {
  const words = useTranslations('admin.deployment');
  const { moment, number } = useFormats();
  const rebuild = useAdmin(['rebuild'], readRebuild, REFRESH_MS);
  return (
    <section>
      <header className="heading">
        <h2>{words('readModels')}</h2>
        {rebuild.data?.building === false && (
          <Act name={words('rebuild')} effect={words('rebuildEffect')} act={startRebuild} />
        )}
      </header>
      <p className="quiet prose">{words('readModelsHint')}</p>
      <Loaded query={rebuild}>
        {({ building, started_at, finished_at, documents, failure }) => (
          <dl className="pairs" aria-live="polite">
            <dt>{words('state')}</dt>
            <dd>
              <span className={`status ${building ? 'wait' : 'good'}`}>
                {words(building ? 'building' : 'complete')}
              </span>
            </dd>
            <dt>{words('last')}</dt>
            <dd>{started_at === null ? words('never') : moment(finished_at ?? started_at)}</dd>
            <dt>{words('copied')}</dt>
            <dd>{number(documents)}</dd>
            {failure !== null && (
              <>
                <dt>{words('failure')}</dt>
                <dd className="bad">{failure}</dd>
              </>
            )}
          </dl>
        )}
      </Loaded>
    </section>
  );
}
