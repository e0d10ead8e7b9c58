import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openFileXmlStore } from '@ecf/archive';
import { makeBackup, recordRestores, restoreBackup, verifyBackup } from '@ecf/backup';
import { SERVICE_NAMES, type ServiceName, variablePrefix } from '@ecf/contracts';
import { createMasterKeys, taxpayerCertificate } from '@ecf/kit';
import { canonicalJson } from '@ecf/kit/canonical-json';
import { migrate } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';

const VERSION = '1.2.3';
const masterKey = randomBytes(32);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-backup-'));
const clients: pg.Client[] = [];

afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  fs.rmSync(folder, { recursive: true });
});

/** Six databases and an archive in files, as settings of a deployment; with the tables of the services, or empty. */
async function deployment(tables: 'with tables' | 'empty') {
  const postgres = await startTestPostgres();
  const urls = await Promise.all(
    SERVICE_NAMES.map((service) => postgres.createDatabase(tables === 'empty' ? undefined : service)),
  );
  const settings = SERVICE_NAMES.map((service, at) => [`${variablePrefix(service)}_DATABASE_URL`, urls[at] as string]);
  const databases = {} as Record<ServiceName, pg.Client>;
  for (const [at, service] of SERVICE_NAMES.entries()) {
    databases[service] = new pg.Client({ connectionString: urls[at] });
    clients.push(databases[service]);
    await databases[service].connect();
  }
  const dataDir = fs.mkdtempSync(path.join(folder, 'data-'));
  const env: Record<string, string> = {
    ...Object.fromEntries(settings),
    DATA_DIR: dataDir,
    MASTER_KEY: masterKey.toString('base64'),
  };
  return { env, databases, archive: await openFileXmlStore(path.join(dataDir, 'xml')) };
}

type Deployment = Awaited<ReturnType<typeof deployment>>;

const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');

/** Stores a document and the row of emission that names it; a pending one is in the database instead of the archive. */
async function addDocument({ databases: { emission }, archive }: Deployment, number: number, state = 'archived') {
  const text = `<ECF>${number}, «áéí»</ECF>`;
  const [file, sha256] = [`TesteCF/ecf/${number}.xml`, sha256Of(text)];
  const encf = `E31${String(number).padStart(10, '0')}`;
  const { rows } = await emission.query(
    `INSERT INTO emission (env, issuer_rnc, encf, account_id, ecf_type, attempt, created_at)
     VALUES ('TesteCF', '101000074', $1, 'a', '31', 1, now()) RETURNING id`,
    [encf],
  );
  await emission.query(
    `INSERT INTO attempt (emission_id, attempt, revision, state, source, route, content_hash, facts, xml_path, xml_sha256, signed_at,
       committed_at, has_own_certificate, track_id_adopted, verdict, lost_sends, transient_refusals, failures, past)
     VALUES ($1, 1, 1, 'accepted', 'json', 'ecf', $4, $5, $2, $3, now(), now(), false, false, '{}', 0, 0, 0, '[]')`,
    [rows[0].id, file, sha256, 'tab\tline\nback\\slash \\N', JSON.stringify({ total: '118.00', text: 'ñ \\ "' })],
  );
  if (state === 'archived') await archive.put(file, Buffer.from(text));
  else
    await emission.query('INSERT INTO pending_document (path, sha256, bytes) VALUES ($1, $2, $3)', [
      file,
      sha256,
      text,
    ]);
  return file;
}

/** All rows of all tables, with the positions of the sequences. */
async function contentOf({ databases }: Deployment) {
  const bounds = 'SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class WHERE relispartition ORDER BY 1';
  const content: Record<string, unknown> = {};
  for (const [service, client] of Object.entries(databases)) {
    const tables = await client.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
    for (const { name } of tables.rows)
      if (name !== 'restored')
        content[`${service} ${name}`] = (await client.query(`SELECT t::text FROM "${name}" t ORDER BY 1`)).rows;
    const { rows } = await client.query('SELECT sequencename, last_value FROM pg_sequences ORDER BY 1');
    content[`${service} sequences`] = rows;
    content[`${service} partitions`] = (await client.query(bounds)).rows;
  }
  return content;
}

const databaseOf = ({ env }: Deployment, service: string) => {
  const setting = `${service}_DATABASE_URL`;
  return { [setting]: env[setting] as string };
};

async function filled(): Promise<Deployment> {
  const made = await deployment('with tables');
  const { emission, gateway } = made.databases;
  await gateway.query("INSERT INTO accounts (id, name) VALUES ('a', 'Ferretería Ejemplo')");
  await gateway.query(
    "INSERT INTO taxpayers (rnc, account_id, name, revision, previous_revision) VALUES ('101000074', 'a', 'Ejemplo', 1, 0)",
  );
  const sealed = createMasterKeys([masterKey]).seal(
    Buffer.from('key file'),
    taxpayerCertificate({ account_id: 'a', rnc: '101000074' }),
  );
  await gateway.query(
    `INSERT INTO certificates (rnc, sealed, subject, serial_number, not_before, not_after, fingerprint)
     VALUES ('101000074', $1, 's', '1', now(), now(), 'f')`,
    [sealed],
  );
  await gateway.query(
    "INSERT INTO audit_entries (seq, at, actor, action, target, details, previous_hash, hash) VALUES (1, 't', 'Ana', 'a.b', '/', '{}', '', '')",
  );
  await emission.query(`
    CREATE TABLE attempt_2026_11 PARTITION OF attempt FOR VALUES FROM (1) TO (3);
    CREATE TABLE exchange_2016_11 (LIKE exchange INCLUDING ALL);
    INSERT INTO exchange_2016_11 (emission_id, attempt, operation, at, outcome) VALUES (1, 1, 'o', now(), 'detached')`);
  for (const number of [1, 2, 3]) await addDocument(made, number);
  await addDocument(made, 4, 'pending');
  return made;
}

const backUp = (made: Deployment, root: string, version = VERSION) => makeBackup(root, { env: made.env, version });
async function faultsOf(root: string) {
  const faults: string[] = [];
  await verifyBackup(root, VERSION, async ({ problem, path }) => void faults.push(`${problem} ${path}`));
  return faults;
}
async function restore(root: string, env: Deployment['env'], version = VERSION) {
  const faults: string[] = [];
  const { faults: count } = await restoreBackup(root, {
    env,
    version,
    onFault: async ({ problem, path }) => void faults.push(`${problem} ${path}`),
  });
  expect(faults).toHaveLength(count);
  return faults;
}

describe('A backup', () => {
  let source: Deployment;
  const root = path.join(folder, 'backup');
  const readManifest = () => JSON.parse(fs.readFileSync(path.join(root, 'manifest.json'), 'utf8'));
  const folders = () =>
    fs
      .readdirSync(root)
      .filter((name) => name.startsWith('databases-'))
      .sort();
  const firstFile = (name: RegExp) =>
    fs
      .readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => name.test(file))
      .sort()[0] as string;

  beforeAll(async () => {
    source = await filled();
    expect(await backUp(source, root)).toMatchObject({ documents: 3, copied: 3, missing: [] });
  });

  it('restores every row, sequence and document into empty databases, and records the restore.', async () => {
    const before = await contentOf(source);
    const target = await deployment('empty');
    expect(await restore(root, target.env)).toEqual([]);
    expect(await contentOf(target)).toEqual(before);
    for (const number of [1, 2, 3])
      expect((await target.archive.get(`TesteCF/ecf/${number}.xml`)).toString()).toBe(`<ECF>${number}, «áéí»</ECF>`);
    const { emission, gateway } = target.databases;
    expect((await emission.query('SELECT backup_at, settled_at FROM restored')).rows).toEqual([
      { backup_at: new Date(readManifest().taken_at), settled_at: null },
    ]);
    // Triggers and constraints are in force again.
    await expect(gateway.query('DELETE FROM audit_entries')).rejects.toThrow();
    await expect(gateway.query("DELETE FROM accounts WHERE id = 'a'")).rejects.toThrow(/foreign key/);
  });

  it('is restored again over a restore that was interrupted, and no service starts meanwhile.', async () => {
    const target = await deployment('empty');
    expect(await restore(root, target.env)).toEqual([]);
    // Killed after the commit of some databases: all have the mark, and the others no tables.
    for (const client of Object.values(target.databases)) await client.query('CREATE TABLE unfinished_restore ()');
    await target.databases.query.query(
      'DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE unfinished_restore ()',
    );
    const migrations = path.join(import.meta.dirname, '../../../services/emission/prisma/migrations');
    await expect(migrate(target.env.EMISSION_DATABASE_URL as string, migrations)).rejects.toThrow(
      /Run ecf restore again/,
    );
    expect(await restore(root, target.env)).toEqual([]);
    expect(await contentOf(target)).toEqual(await contentOf(source));
    expect(await migrate(target.env.EMISSION_DATABASE_URL as string, migrations)).toEqual([]);
  });

  it('is restored again if the connection was lost before every database had its mark removed.', async () => {
    const target = await deployment('empty');
    expect(await restore(root, target.env)).toEqual([]);
    const { gateway, reception, query } = target.databases;
    for (const client of [reception, query]) await client.query('CREATE TABLE unfinished_restore ()');
    // Its service has started meanwhile.
    await gateway.query("UPDATE accounts SET name = 'Otra'");
    await expect(restore(root, { ...target.env, ...databaseOf(source, 'EMISSION') })).rejects.toThrow(/tables already/);
    expect(await restore(root, target.env)).toEqual([]);
    expect((await gateway.query('SELECT name FROM accounts')).rows).toEqual([{ name: 'Otra' }]);
    for (const client of Object.values(target.databases))
      expect((await client.query("SELECT to_regclass('unfinished_restore') AS mark")).rows).toEqual([{ mark: null }]);
    await expect(restore(root, target.env)).rejects.toThrow(/tables already/);
  });

  it('does not show its documents to other users.', () => {
    expect(fs.statSync(path.join(root, 'xml')).mode & 0o777).toBe(0o700);
  });

  it('copies only new documents when it is repeated, and replaces the earlier databases.', async () => {
    await addDocument(source, 5);
    const before = readManifest().folder;
    fs.mkdirSync(path.join(root, 'databases-of-an-interrupted-backup'));
    const meanwhile: string[][] = [];
    const onDocument = () => void meanwhile.push(folders());
    expect(await makeBackup(root, { env: source.env, version: VERSION, onDocument })).toMatchObject({
      documents: 4,
      copied: 1,
    });
    expect(meanwhile).toEqual([[before, readManifest().folder]]);
    expect(folders()).toEqual([readManifest().folder]);
    expect(await faultsOf(root)).toEqual([]);
  });

  it('stays the earlier one if a repetition fails, which leaves nothing behind.', async () => {
    const before = readManifest();
    // A file of this name cannot be made.
    await source.databases.query.query('CREATE TABLE "no/folder" (id int)');
    await expect(backUp(source, root)).rejects.toThrow(/ENOENT/);
    await source.databases.query.query('DROP TABLE "no/folder"');
    expect(folders()).toEqual([before.folder]);
    const broken = { ...source.env, S3_ENDPOINT: 'http://127.0.0.1:1', S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 'b' };
    await addDocument(source, 6);
    await expect(makeBackup(root, { env: broken, version: VERSION })).rejects.toThrow(/storage/);
    expect(folders()).toEqual([before.folder]);
    expect(readManifest()).toEqual(before);
    expect(await faultsOf(root)).toEqual([]);
    await backUp(source, root);
  });

  it('stays the earlier one if the database server ended its session, because another backup may have begun.', async () => {
    const before = readManifest();
    await addDocument(source, 60);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()`;
    const program = `const client = new (require('pg').Client)(process.argv[1]);
      client.connect().then(() => client.query(process.argv[2])).then(() => client.end());`;
    // The backup waits until its session has ended.
    const onDocument = () =>
      void execFileSync(process.execPath, ['-e', program, source.env.GATEWAY_DATABASE_URL as string, cut], {
        cwd: import.meta.dirname,
      });
    await expect(makeBackup(root, { env: source.env, version: VERSION, onDocument })).rejects.toThrow(/terminat/);
    expect(readManifest()).toEqual(before);
    expect(folders()).toContain(before.folder);
    await backUp(source, root);
  });

  it('names the documents that the archive lacks or has altered, and restores the others.', async () => {
    const lost = await addDocument(source, 7);
    fs.rmSync(path.join(source.env.DATA_DIR as string, 'xml', lost));
    const altered = await addDocument(source, 8);
    fs.writeFileSync(path.join(source.env.DATA_DIR as string, 'xml', altered), 'other');
    const other = path.join(folder, 'incomplete');
    expect(await backUp(source, other)).toMatchObject({ missing: [lost, altered] });
    expect(await faultsOf(other)).toEqual([]);
    const target = await deployment('empty');
    expect(await restore(other, target.env)).toEqual([]);
    expect(await contentOf(target)).toEqual(await contentOf(source));
    await source.databases.emission.query('DELETE FROM attempt WHERE xml_path = ANY ($1)', [[lost, altered]]);
    await backUp(source, root);
  });

  describe('is not restored, and leaves the databases empty,', () => {
    const unharmed = path.join(folder, 'unharmed');
    let target: Deployment;
    beforeAll(async () => {
      fs.cpSync(root, unharmed, { recursive: true });
      target = await deployment('empty');
    });
    async function expectEmpty() {
      const tables = "SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'";
      for (const client of Object.values(target.databases))
        expect((await client.query(tables)).rows).toEqual([{ tables: 0 }]);
    }
    const harmed = async (harm: () => void, check: () => Promise<unknown>) => {
      harm();
      await check();
      await expectEmpty();
      fs.rmSync(root, { recursive: true });
      fs.cpSync(unharmed, root, { recursive: true });
    };
    const flip = (file: string) => () => {
      const bytes = fs.readFileSync(path.join(root, file));
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
      fs.writeFileSync(path.join(root, file), bytes);
    };

    it.each([/table-attempt\.gz$/, /migrations\.json\.gz$/, /documents\.gz$/, /xml\/.*2\.xml$/])(
      'if a byte of %s is flipped.',
      async (name) => {
        const file = firstFile(name);
        await harmed(flip(file), async () => expect(await restore(root, target.env)).toEqual([`altered ${file}`]));
      },
    );

    it.each([/table-accounts\.gz$/, /xml\/.*3\.xml$/])('if %s is missing.', async (name) => {
      const file = firstFile(name);
      const remove = () => fs.rmSync(path.join(root, file));
      await harmed(remove, async () => expect(await restore(root, target.env)).toEqual([`missing ${file}`]));
    });

    it('if a byte of the manifest is flipped, or the manifest is missing.', async () => {
      await harmed(flip('manifest.json'), () => expect(restore(root, target.env)).rejects.toThrow(/altered|manifest/));
      await harmed(
        () => fs.rmSync(path.join(root, 'manifest.json')),
        () => expect(restore(root, target.env)).rejects.toThrow(/no backup/),
      );
    });

    it.each([
      ['format', 2, /newer/],
      ['product_version', '9.0.0', /version 9\.0\.0/],
      ['product_version', 7, /./],
      ['taken_at', 'yesterday', /not the manifest/],
      ['missing', 'none', /not the manifest/],
      ['folder', '../elsewhere', /not the manifest/],
      ['databases', {}, /not the manifest/],
    ])('if %s in the manifest is %j.', async (name, value, message) => {
      const change = () => {
        const { sha256: _, ...manifest } = { ...readManifest(), [name]: value };
        const text = JSON.stringify({ ...manifest, sha256: sha256Of(canonicalJson(manifest)) });
        fs.writeFileSync(path.join(root, 'manifest.json'), text);
      };
      await harmed(change, () => expect(restore(root, target.env)).rejects.toThrow(message));
    });

    it('by an older version.', async () => {
      await expect(restore(root, target.env, '1.2.2')).rejects.toThrow(/Use version 1\.2\.3 or newer/);
      await expectEmpty();
    });

    it('without its master key, which the message names.', async () => {
      const id = createMasterKeys([masterKey]).keyIds[0] as string;
      const { MASTER_KEY: _, ...without } = target.env;
      await expect(restore(root, without)).rejects.toThrow(`master key ${id}; set MASTER_KEY`);
      const other = { ...without, MASTER_KEY: randomBytes(32).toString('base64') };
      await expect(restore(root, other)).rejects.toThrow(`master key ${id}`);
      await expectEmpty();
    });

    it('if the archive has another document under a path.', async () => {
      await target.archive.put('TesteCF/ecf/1.xml', Buffer.from('other'));
      await expect(restore(root, target.env)).rejects.toThrow(/never overwritten/);
      await expectEmpty();
    });

    it('over data.', async () => {
      const before = await contentOf(source);
      await expect(restore(root, source.env)).rejects.toThrow(/tables already/);
      expect(await contentOf(source)).toEqual(before);
    });
  });

  it('by other means is recorded in all databases, unless a service runs.', async () => {
    const { env, databases } = await deployment('with tables');
    const backupAt = new Date('2026-06-01T03:00:00Z');
    const record = () => recordRestores({ env, services: ['emission', 'query'], backupAt });
    const service = new pg.Client({
      connectionString: env.EMISSION_DATABASE_URL as string,
      application_name: 'ecf emission',
    });
    await service.connect();
    await expect(record()).rejects.toThrow(/database of emission has connections \(ecf emission\)/);
    await service.end();
    await record();
    for (const [name, client] of Object.entries(databases))
      expect([name, (await client.query('SELECT of_others, backup_at, settled_at FROM restored')).rows]).toEqual([
        name,
        [{ of_others: !['emission', 'query'].includes(name), backup_at: backupAt, settled_at: null }],
      ]);
    expect(await recordRestores({ env, services: [], backupAt })).toEqual([]);
    await expect(recordRestores({ env, backupAt: new Date('2100-01-01') })).rejects.toThrow(/future/);
    await expect(recordRestores({ env, services: ['poller'], backupAt })).rejects.toThrow(/poller names no service/);
  });

  it('does not go into the folder of another deployment.', async () => {
    const other = await deployment('with tables');
    // Databases of tests are copies of one.
    await other.databases.gateway.query('UPDATE _prisma_migrations SET id = gen_random_uuid()');
    await expect(backUp(other, root)).rejects.toThrow(/another deployment/);
    expect(await faultsOf(root)).toEqual([]);
  });

  it('needs the tables of all services, and the settings of all databases.', async () => {
    await expect(backUp(await deployment('empty'), path.join(folder, randomUUID()))).rejects.toThrow(/no tables/);
    const { QUERY_DATABASE_URL: _, ...env } = source.env;
    await expect(makeBackup(root, { env, version: VERSION })).rejects.toThrow(/set QUERY_DATABASE_URL/);
  });
});
