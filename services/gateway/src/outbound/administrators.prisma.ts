import type { Role } from '@ecf/contracts';
import type { Administrator, AdministratorStore } from '../core/ports.js';
import type { Prisma, PrismaClient } from '../generated/prisma/client.js';

const NOT_DELETED = { deletedAt: null };

/** Administrators in the gateway's database. */
export function createPrismaAdministratorStore(prisma: PrismaClient): AdministratorStore {
  return {
    create: ({ hash, ...administrator }) =>
      prisma.$transaction(async (tx) => {
        // One after another: two with the same name at once would both find it free.
        await tx.$executeRaw`LOCK TABLE administrators IN SHARE ROW EXCLUSIVE MODE`;
        const taken = await tx.administrator.count({ where: { name: administrator.name, ...NOT_DELETED } });
        if (taken > 0) return 'taken';
        return toAdministrator(
          await tx.administrator.create({ data: { ...administrator, hash: new Uint8Array(hash) } }),
        );
      }),
    async list({ limit, offset }) {
      const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
      const rows = await prisma.administrator.findMany({ where: NOT_DELETED, orderBy, take: limit, skip: offset });
      return rows.map(toAdministrator);
    },
    find: async (id) => orNull(await prisma.administrator.findFirst({ where: { id, ...NOT_DELETED } })),
    withToken: async (hash) =>
      orNull(await prisma.administrator.findFirst({ where: { hash: new Uint8Array(hash), ...NOT_DELETED } })),
    delete: (id, at) =>
      prisma.$transaction(async (tx) => {
        const { count } = await tx.administrator.updateMany({ where: { id, ...NOT_DELETED }, data: { deletedAt: at } });
        return count === 0 ? null : orNull(await tx.administrator.findUnique({ where: { id } }));
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
