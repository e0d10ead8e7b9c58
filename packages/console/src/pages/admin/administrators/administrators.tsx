import { useState } from 'react';
import { useTranslations } from 'use-intl';
import {
  type Administrator,
  createAdministrator,
  deleteAdministrator,
  listAdministrators,
} from '../../../data/admin/accounts.js';
import { type Role, useAdmin } from '../../../data/admin/gateway.js';
import { Choice, Field } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { Secret } from '../../../ui/secret.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act, textOf } from '../act.js';

/** The administrators, a new one, and the end of one. */
export function Administrators() {
  const words = useTranslations('admin.administrators');
  const administrators = useAdmin(['administrators'], listAdministrators);
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        <Create />
      </header>
      <Loaded query={administrators}>
        {(rows) => (rows.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows rows={rows} />)}
      </Loaded>
    </>
  );
}

function Create() {
  const words = useTranslations('admin.administrators');
  const roles = useTranslations('role');
  const [role, choose] = useState<Role>('viewer');
  return (
    <Act
      name={words('create')}
      effect={words('createEffect')}
      isMain
      needs="owner"
      act={(form) => createAdministrator({ name: textOf(form, 'name'), role, expires_at: null })}
      done={({ token }, close) => (
        <Secret title={words('token')} hint={words('tokenHint')} secret={token} onClose={close} />
      )}
    >
      <Field label={words('name')} hint={words('nameHint')}>
        {(ids) => <input {...ids} name="name" required maxLength={200} />}
      </Field>
      <Choice
        label={words('role')}
        value={role}
        options={(['viewer', 'operator', 'owner'] as const).map((one) => [one, roles(one)])}
        onChange={(chosen) => choose(chosen as Role)}
      />
      <p className="quiet">{words(`may.${role}`)}</p>
    </Act>
  );
}

function Rows({ rows }: { rows: readonly Administrator[] }) {
  const words = useTranslations('admin.administrators');
  const roles = useTranslations('role');
  const { day } = useFormats();
  const columns: Column<Administrator>[] = [
    { head: words('name'), cell: ({ name }) => <bdi>{name}</bdi> },
    { head: words('role'), cell: ({ role }) => roles(role) },
    { head: words('created'), cell: ({ created_at }) => day(created_at) },
    {
      head: words('expires'),
      cell: ({ expires_at }) => (expires_at === null ? words('never') : day(expires_at)),
    },
    {
      head: words('acts'),
      cell: ({ id, name }) => (
        <Act
          name={words('delete')}
          of={name}
          effect={words('deleteEffect')}
          needs="owner"
          act={() => deleteAdministrator(id)}
        />
      ),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={rows} rowKey={({ id }) => id} />;
}
