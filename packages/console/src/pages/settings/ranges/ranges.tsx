import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { usePlace } from '../../../data/place.js';
import { type LeftRange, useRanges } from '../../../data/ranges.js';
import { useSettingsOwner } from '../../../data/settings-owner.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { TaxpayerHeading } from '../taxpayer-heading.js';
import { ConfirmRanges } from './confirm-ranges.js';
import { RangeForm } from './range-form.js';

/** The number ranges of the taxpayer in the chosen environment. */
export function RangesPart() {
  const words = useTranslations('settings.ranges');
  const { env, rnc } = usePlace();
  const { mayChange } = useSettingsOwner();
  const ranges = useRanges(rnc);
  const [adds, setAdds] = useState(false);
  return (
    <section>
      <header className="heading">
        <TaxpayerHeading title={words('title', { env })} />
        {mayChange && (
          <button type="button" className="main" disabled={!ranges.data} onClick={() => setAdds(true)}>
            {words('add')}
          </button>
        )}
      </header>
      <p className="quiet prose">{words('hint')}</p>
      <Loaded query={ranges}>
        {(all) => (
          <>
            {adds && <RangeForm all={all} before={null} onClose={() => setAdds(false)} />}
            <Rows all={all} env={env} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Rows({ all, env }: { all: readonly LeftRange[]; env: LeftRange['env'] }) {
  const words = useTranslations();
  const { mayChange } = useSettingsOwner();
  const { day, number } = useFormats();
  const own = all.filter((range) => range.env === env);
  if (own.length === 0) return <p className="prose">{words('settings.ranges.none', { env })}</p>;
  const columns: Column<LeftRange>[] = [
    {
      head: words('settings.ranges.type'),
      cell: ({ ecf_type }) => (
        <>
          {ecf_type}
          <small>{words(`type.${ecf_type}`)}</small>
        </>
      ),
    },
    {
      head: words('settings.ranges.numbers'),
      cell: ({ from, to }) => <span className="code whole">{words('settings.ranges.span', { from, to })}</span>,
    },
    {
      head: words('settings.ranges.next'),
      cell: ({ next }) =>
        next === null ? words('settings.ranges.noNext') : <span className="code whole">{next}</span>,
    },
    {
      head: words('settings.ranges.remaining'),
      cell: ({ remaining }) => (remaining === null ? '' : number(remaining)),
      amount: true,
    },
    {
      head: words('settings.ranges.expires'),
      cell: ({ expires }) => (expires === null ? words('settings.ranges.noExpiry') : day(expires)),
    },
    ...(mayChange
      ? [{ head: words('settings.acts'), cell: (range: LeftRange) => <RangeActs all={all} range={range} /> }]
      : []),
  ];
  return (
    <Table caption={words('settings.ranges.title', { env })} columns={columns} rows={own} rowKey={({ from }) => from} />
  );
}

function RangeActs({ all, range }: { all: readonly LeftRange[]; range: LeftRange }) {
  const words = useTranslations('settings.ranges');
  const [act, setAct] = useState<'change' | 'remove' | null>(null);
  const close = () => setAct(null);
  return (
    <div className="actions">
      <button type="button" className="plain" onClick={() => setAct('change')}>
        {words('change')} <span className="unseen">{range.from}</span>
      </button>
      <button type="button" className="plain" onClick={() => setAct('remove')}>
        {words('remove')} <span className="unseen">{range.from}</span>
      </button>
      {act === 'change' && <RangeForm all={all} before={range} onClose={close} />}
      {act === 'remove' && <ConfirmRanges all={all} before={range} after={null} onDone={close} onBack={close} />}
    </div>
  );
}
