import type { ActedBy, Role } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { Administrator, AdministratorStore } from '../core/ports.js';
import type { Prisma, PrismaClient } from '../generated/prisma/client.js';
import { requireValidActor } from './account-rows.js';
import { appendAudit } from './audit/audit-log.postgres.js';
import { queriesOf, type Tx } from './prisma-queries.js';

const NOT_DELETED = { deletedAt: null };

/** Administrators in the gateway's database. */
export function createPrismaAdministratorStore(prisma: PrismaClient, clock: () => Date): AdministratorStore {
  const record = (tx: Tx, by: ActedBy, action: string, id: string, details: Record<string, unknown>) =>
    appendAudit(queriesOf(tx), [
      { at: toIsoDominican(clock()), ...by, action, target: `/administrators/${id}`, details },
    ]);
  return {
    create: ({ hash, ...administrator }, by) =>
      prisma.$transaction(async (tx) => {
        // One after another: two with the same name at the same time would both find it free. The name of a deleted one is not
        // free either, because the audit log names its acts by it. Names of earlier versions may have any characters.
        await tx.$executeRaw`LOCK TABLE administrators IN SHARE ROW EXCLUSIVE MODE`;
        await requireValidActor(tx, by, clock());
        const taken = await tx.$queryRaw<unknown[]>`
          SELECT 1 FROM administrators
          WHERE lower(normalize(name, NFKC) COLLATE "C") = lower(${administrator.name} COLLATE "C")`;
        if (taken.length > 0) return 'taken';
        const row = await tx.administrator.create({ data: { ...administrator, hash: new Uint8Array(hash) } });
        const { id, name, role, expiresAt } = administrator;
        const expires_at = expiresAt === null ? null : toIsoDominican(expiresAt);
        await record(tx, by, 'administrator.create', id, { name, role, expires_at });
        return toAdministrator(row);
      }),
    async list({ limit, offset }) {
      const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
      const rows = await prisma.administrator.findMany({ where: NOT_DELETED, orderBy, take: limit, skip: offset });
      return rows.map(toAdministrator);
    },
    find: async (id) => orNull(await prisma.administrator.findFirst({ where: { id, ...NOT_DELETED } })),
    async withToken(hash) {
      const row = await prisma.administrator.findUnique({ where: { hash: new Uint8Array(hash) } });
      return row === null ? null : { ...toAdministrator(row), deleted: row.deletedAt !== null };
    },
    delete: (id, at, by) =>
      prisma.$transaction(async (tx) => {
        await requireValidActor(tx, by, clock());
        const { count } = await tx.administrator.updateMany({ where: { id, ...NOT_DELETED }, data: { deletedAt: at } });
        const row = count === 0 ? null : await tx.administrator.findUnique({ where: { id } });
        if (row !== null) await record(tx, by, 'administrator.delete', id, { name: row.name });
        return orNull(row);
      }),
  };
}

type Row = Prisma.AdministratorGetPayload<object>;

function toAdministrator({ id, name, role, createdAt, expiresAt }: Row): Administrator {
  return { id, name, role: role as Role, createdAt, expiresAt };
}

function orNull(row: Row | null): Administrator | null {
  return row === null ? null : toAdministrator(row);
}
