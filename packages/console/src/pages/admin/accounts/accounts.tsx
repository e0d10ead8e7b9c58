import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { ACCOUNTS_PER_PAGE, type Account, createAccount, listAccounts } from '../../../data/admin/accounts.js';
import { useAdmin } from '../../../data/admin/gateway.js';
import { Field } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act, textOf } from '../act.js';
import { Active } from '../active.js';

const route = getRouteApi('/admin/accounts');

/** The accounts of the deployment, and a new one. */
export function Accounts() {
  const words = useTranslations('admin.accounts');
  const list = useTranslations('invoices');
  const offset = Number(route.useSearch().offset ?? 0);
  const accounts = useAdmin(['accounts', offset], () => listAccounts(offset));
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        <Act
          name={words('create')}
          effect={words('createEffect')}
          isMain
          act={(form) => createAccount(textOf(form, 'name'))}
        >
          <Field label={words('name')}>{(ids) => <input {...ids} name="name" required maxLength={200} />}</Field>
        </Act>
      </header>
      <Loaded query={accounts}>
        {(rows) => (
          <>
            {rows.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows accounts={rows} />}
            <nav className="pages" aria-label={words('title')}>
              {offset > 0 && <Link to="/admin/accounts">{list('first')}</Link>}
              {rows.length === ACCOUNTS_PER_PAGE && (
                <Link to="/admin/accounts" search={{ offset: String(offset + rows.length) }}>
                  {list('next')}
                </Link>
              )}
            </nav>
          </>
        )}
      </Loaded>
    </>
  );
}

function Rows({ accounts }: { accounts: readonly Account[] }) {
  const words = useTranslations('admin.accounts');
  const { day } = useFormats();
  const columns: Column<Account>[] = [
    {
      head: words('name'),
      cell: ({ id, name }) => (
        <Link to="/admin/accounts/$id" params={{ id }} dir="auto">
          {name}
        </Link>
      ),
    },
    { head: words('state'), cell: ({ active }) => <Active active={active} /> },
    { head: words('created'), cell: ({ created_at }) => <span className="whole">{day(created_at)}</span> },
    { head: words('id'), cell: ({ id }) => <span className="code">{id}</span> },
  ];
  return <Table caption={words('title')} columns={columns} rows={accounts} rowKey={({ id }) => id} />;
}
