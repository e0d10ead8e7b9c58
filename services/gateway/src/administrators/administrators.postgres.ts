import type { ActedBy } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { type Database, type Queries, queryBuilder } from '@ecf/postgres';
import type { Selectable } from 'kysely';
import { requireValidActor } from '../access/valid-actor.postgres.js';
import { appendAudit } from '../audit/audit-log.postgres.js';
import { administratorPath } from '../audit/targets.js';
import type * as Tables from '../generated/tables.js';
import type { Administrator, AdministratorStore } from './ports.js';

/** Administrators in the gateway's database. */
export function createPostgresAdministratorStore(database: Database, clock: () => Date): AdministratorStore {
  const db = queryBuilder<Tables.DB>(database);
  const undeleted = db.selectFrom('administrators').selectAll().where('deletedAt', 'is', null);
  const record = (tx: Queries, by: ActedBy, action: string, id: string, details: Record<string, unknown>) =>
    appendAudit(tx, [{ at: toIsoDominican(clock()), ...by, action, target: administratorPath(id), details }]);
  return {
    create: (administrator, by) =>
      database.transaction(async (tx) => {
        const db = queryBuilder<Tables.DB>(tx);
        // One after another: two with the same name at the same time would both find it free. The name of a deleted one is not
        // free either, because the audit log names its acts by it.
        await tx.query('LOCK TABLE administrators IN SHARE ROW EXCLUSIVE MODE');
        await requireValidActor(tx, by, clock());
        const { rowCount } = await tx.query(
          'SELECT 1 FROM administrators WHERE lower(name COLLATE "C") = lower($1 COLLATE "C")',
          [administrator.name],
        );
        if (rowCount > 0) return 'taken';
        const row = await db
          .insertInto('administrators')
          .values(administrator)
          .returningAll()
          .executeTakeFirstOrThrow();
        const { id, name, role, expiresAt } = administrator;
        const expires_at = expiresAt === null ? null : toIsoDominican(expiresAt);
        await record(tx, by, 'administrator.create', id, { name, role, expires_at });
        return toAdministrator(row);
      }),
    async list({ limit, offset }) {
      const rows = await undeleted.orderBy('createdAt').orderBy('id').limit(limit).offset(offset).execute();
      return rows.map(toAdministrator);
    },
    async find(id) {
      const row = await undeleted.where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toAdministrator(row);
    },
    async withToken(hash) {
      const row = await db.selectFrom('administrators').selectAll().where('hash', '=', hash).executeTakeFirst();
      return row === undefined ? null : { ...toAdministrator(row), deleted: row.deletedAt !== null };
    },
    delete: (id, at, by) =>
      database.transaction(async (tx) => {
        const db = queryBuilder<Tables.DB>(tx);
        await requireValidActor(tx, by, clock());
        const row = await db
          .updateTable('administrators')
          .set({ deletedAt: at })
          .where('id', '=', id)
          .where('deletedAt', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return null;
        await record(tx, by, 'administrator.delete', id, { name: row.name });
        return toAdministrator(row);
      }),
  };
}

function toAdministrator({ id, name, role, createdAt, expiresAt }: Selectable<Tables.Administrator>): Administrator {
  return { id, name, role, createdAt, expiresAt };
}
