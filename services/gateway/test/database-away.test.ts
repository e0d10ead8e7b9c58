import { isDatabaseUnavailable, openDatabase } from '@ecf/service-kit/postgres';
import { describe, expect, it } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../src/generated/prisma/client.js';
import { createPrismaAccessRevision } from '../src/outbound/access.prisma.js';

describe('Prisma Client without a database', () => {
  it.each([
    ['a socket that is not there', 'postgresql://ecf@localhost/gateway?host=/tmp/no-such-folder-of-postgres'],
    ['a port without a listener', 'postgresql://ecf@127.0.0.1:1/gateway'],
  ])('%s: the error says that the database is unavailable', async (_, url) => {
    const database = openDatabase(url);
    const adapter = new PrismaPg(database.pool as unknown as ConstructorParameters<typeof PrismaPg>[0]);
    const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' });
    const revision = createPrismaAccessRevision(prisma);
    const error = await Promise.resolve(revision.current()).catch((reason) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(error)).toBe(true);
    await prisma.$disconnect();
    await database.close();
  });
});
