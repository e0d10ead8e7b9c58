import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { changeTaxpayer, createTaxpayer, listTaxpayers, type Taxpayer } from '../../../data/admin/accounts.js';
import { useAdmin } from '../../../data/admin/gateway.js';
import { Field } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act, textOf } from '../act.js';
import { Active, Switch } from '../active.js';

/** The taxpayers of an account, and a new one. */
export function Taxpayers({ account }: { account: string }) {
  const words = useTranslations('admin.taxpayers');
  const taxpayers = useAdmin(['taxpayers', account], () => listTaxpayers(account));
  const create = (form: FormData) =>
    createTaxpayer(account, { rnc: textOf(form, 'rnc').replaceAll('-', ''), name: textOf(form, 'name') });
  return (
    <section>
      <header className="heading">
        <h2>{words('title')}</h2>
        <Act name={words('create')} effect={words('createEffect')} act={create}>
          <Field label={words('rnc')} hint={words('rncHint')}>
            {(ids) => <input {...ids} name="rnc" required inputMode="numeric" pattern="[\d\-]{9,13}" />}
          </Field>
          <Field label={words('name')}>{(ids) => <input {...ids} name="name" required maxLength={200} />}</Field>
        </Act>
      </header>
      <Loaded query={taxpayers}>
        {(rows) =>
          rows.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows account={account} taxpayers={rows} />
        }
      </Loaded>
    </section>
  );
}

function Rows({ account, taxpayers }: { account: string; taxpayers: readonly Taxpayer[] }) {
  const words = useTranslations('admin.taxpayers');
  const { day, rnc: written } = useFormats();
  const columns: Column<Taxpayer>[] = [
    {
      head: words('name'),
      cell: ({ rnc, name }) => (
        <>
          <Link to="/admin/accounts/$id/$rnc" params={{ id: account, rnc }}>
            <bdi>{name}</bdi>
          </Link>
          <small>{written(rnc)}</small>
        </>
      ),
    },
    { head: words('state'), cell: ({ active }) => <Active active={active} /> },
    {
      head: words('certificate'),
      cell: ({ certificate }) =>
        certificate === null ? words('noCertificate') : words('until', { day: day(certificate.not_after) }),
    },
    { head: words('ranges'), cell: ({ ranges }) => ranges.length, amount: true },
    {
      head: words('acts'),
      cell: ({ rnc, active }) => (
        <Switch
          active={active}
          of={written(rnc)}
          effect={words(active ? 'turnOffEffect' : 'turnOnEffect')}
          change={(to) => changeTaxpayer(account, rnc, to)}
        />
      ),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={taxpayers} rowKey={({ rnc }) => rnc} />;
}
