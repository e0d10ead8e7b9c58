// Deliveries to 1,000 buyers' receivers over real HTTP, with and without a tenth of them that hang: they accept the document
// and never answer, or their name server never answers. The bench measures what the others lose. The service runs in this process
// on its own PostgreSQL; simulator and receivers are other processes. A delivery includes directory, bytes, ARECF stored and
// verified, row and event committed.
//
// BENCH_RECEIVERS (1000), BENCH_HANGING (100) of them, BENCH_DOCUMENTS (2) for each and round, BENCH_ROUNDS (7).
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createApprovals, readApprovalsConfig } from '@ecf/approvals';
import { createNameLookup } from '@ecf/authority-client';
import { createSimulator } from '@ecf/authority-simulator';
import type { TaxpayerState } from '@ecf/contracts';
import { writeXml } from '@ecf/ecf-xml';
import { createInProcessBus, makeEvent } from '@ecf/service-kit/bus';
import { createMemoryDeadLetters } from '@ecf/service-kit/dead-letters';
import { openDatabase } from '@ecf/service-kit/postgres';
import { createMasterKeys, taxpayerCertificate } from '@ecf/service-kit/security';
import { createMetrics } from '@ecf/service-kit/telemetry';
import { openFileXmlStore } from '@ecf/service-kit/xml-store';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { serialiseCertificate, signXml } from '@ecf/xml-signing';
import { benchFolder } from './harness/ending.js';
import { median } from './harness/measure.js';
import { heading, line } from './harness/report.js';
import { certificate, encfOf, ISSUER, invoice } from './inputs/sample.js';

const RECEIVERS = Number(process.env.BENCH_RECEIVERS ?? 1_000);
const HANGING = Number(process.env.BENCH_HANGING ?? RECEIVERS / 10);
const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 2);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const LINES = 10;
const MASTER_KEY = Buffer.alloc(32, 3);

const rncOf = (n: number) => String(140_000_000 + n);
const healthy = Array.from({ length: RECEIVERS - HANGING }, (_, n) => rncOf(n));
/** The share that hangs: none, receivers, or the name servers of receivers. */
type Hanging = 'nobody' | 'receivers' | 'names';
const hung: Record<Hanging, string[]> = {
  nobody: [],
  receivers: Array.from({ length: HANGING }, (_, n) => rncOf(500_000 + n)),
  names: Array.from({ length: HANGING }, (_, n) => rncOf(600_000 + n)),
};
const WORDS = { receivers: 'hang', names: 'have a name server that hangs' };

const folder = benchFolder();
const simulator = await createSimulator({ processingMs: 0 });
const receivers = fork(new URL('./subject/delivery-receivers.js', import.meta.url));
receivers.send({ buyers: healthy, hung: hung.receivers });
const [addresses] = (await once(receivers, 'message')) as [Record<string, string>];
for (const rnc of hung.names) addresses[rnc] = `http://r${rnc}.example`;
/** A name server that never answers. */
const silent = createSocket('udp4').on('message', () => undefined);
await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
for (const [rnc, url] of Object.entries(addresses)) {
  const answer = await fetch(`${simulator.url}/_control/taxpayers/${rnc}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: rnc, reception_url: url }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}
const databaseUrl = await (await startTestPostgres()).createDatabase();
const bus = createInProcessBus({
  logger: silentLogger,
  deadLetters: createMemoryDeadLetters(),
  clock: () => new Date(),
});
const archive = await openFileXmlStore(path.join(folder, 'xml'));
const service = createApprovals(
  readApprovalsConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MASTER_KEY: MASTER_KEY.toString('base64'),
    ...TEST_SERVICE_KEYS.approvals,
    ANY_ISSUER: 'true',
    AUTHORITY_URL: simulator.url,
    ALLOW_PRIVATE_ADDRESSES: 'true',
    DELIVERY_IDLE_MS: '10',
    LOG_LEVEL: 'silent',
  }),
  {
    bus,
    archive,
    logger: silentLogger,
    metrics: createMetrics(),
    source: null,
    receiverNames: createNameLookup({ servers: [`127.0.0.1:${silent.address().port}`], hostsFile: '/nowhere' }),
  },
);
await service.start();
const database = openDatabase(databaseUrl, { max: 2 });
await introduceIssuer();
const { xml } = await signXml(writeXml(invoice(encfOf(1), LINES)), certificate().certificate);
const stored = { path: `TesteCF/ecf/${ISSUER}/issued/2026/01/sample.xml`, checksum: '' };
stored.checksum = (await archive.put(stored.path, Buffer.from(xml))).checksum;

let sequence = 0;
try {
  heading(`${RECEIVERS} receivers, ${HANGING} of which may hang; ${DOCUMENTS} documents for each and round`);
  for (const hanging of ['receivers', 'names'] as const) {
    const first = await round(hanging);
    line(`first contact, ${HANGING} ${WORDS[hanging]}: ${rate(first)} deliveries/s to the ${healthy.length} others`);
    await forget();
  }
  await round('nobody');
  const seconds: Record<Hanging, number[]> = { nobody: [], receivers: [], names: [] };
  for (let n = 0; n < ROUNDS; n += 1)
    for (const hanging of ['nobody', 'receivers', 'names'] as const) {
      seconds[hanging].push(await round(hanging));
      if (hanging !== 'nobody') await forget();
    }
  line(`nobody hangs: ${rate(median(seconds.nobody))} deliveries/s`);
  for (const hanging of ['receivers', 'names'] as const) {
    const losses = seconds[hanging].map((beside, n) => (beside / (seconds.nobody[n] ?? Number.NaN) - 1) * 100);
    line(`${HANGING} ${WORDS[hanging]}: ${rate(median(seconds[hanging]))} deliveries/s to the others`);
    const spread = losses.map((loss) => loss.toFixed(1)).join(', ');
    line(`the others take ${median(losses).toFixed(1)} % longer (goal < 5 %); rounds: ${spread}`);
  }
} finally {
  receivers.disconnect();
  silent.close();
  await service.stop();
  await bus.close();
  await database.close();
  await simulator.stop();
}

function rate(seconds: number): string {
  return ((healthy.length * DOCUMENTS) / seconds).toFixed(0);
}

/** Seconds until every healthy receiver has its documents; each hanging one gets as many. */
async function round(hanging: Hanging): Promise<number> {
  const buyers = [...healthy, ...hung[hanging]];
  const all = Array.from({ length: DOCUMENTS }, () => buyers).flat();
  const begin = sequence;
  sequence += all.length;
  // In mixed order, as documents are issued.
  const rows = all.map((rnc, n) => [encfOf(begin + 10 + n), rnc] as const).sort(() => Math.random() - 0.5);
  const started = process.hrtime.bigint();
  await database.query(
    `INSERT INTO deliveries (env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256, status, created_at, deadline_at, due_at)
     SELECT 'TesteCF', $1, r.encf, r.rnc, 'bench', $2, $3, 'pending', now(), now() + interval '72 hours', now()
       FROM unnest($4::text[], $5::text[]) AS r(encf, rnc)`,
    [ISSUER, stored.path, stored.checksum, rows.map(([encf]) => encf), rows.map(([, rnc]) => rnc)],
  );
  const wanted = healthy.length * DOCUMENTS;
  for (;;) {
    const { rows: seen } = await database.query<{ done: number }>(
      `SELECT count(*)::int AS done FROM deliveries WHERE status = 'delivered' AND encf > $1`,
      [encfOf(begin + 9)],
    );
    if ((seen[0]?.done ?? 0) >= wanted) break;
    await delay(10);
  }
  return Number(process.hrtime.bigint() - started) / 1e9;
}

/** Ends the deliveries to receivers that hang, so that the next round begins without them. */
async function forget(): Promise<void> {
  await database.query(`UPDATE deliveries SET due_at = NULL WHERE status <> 'delivered'`);
  await delay(1_000);
}

async function introduceIssuer(): Promise<void> {
  const signer = certificate().certificate;
  const data: TaxpayerState = {
    rnc: ISSUER,
    account_id: 'bench',
    account_active: true,
    revision: 1,
    previous_revision: 0,
    name: 'Bench',
    active: true,
    certificate: createMasterKeys([MASTER_KEY])
      .seal(serialiseCertificate(signer), taxpayerCertificate({ account_id: 'bench', rnc: ISSUER }))
      .toString('base64'),
    fingerprint: signer.fingerprint,
    ranges: [],
    created_at: '2026-01-01T00:00:00-04:00',
  };
  const draft = { topic: 'taxpayers.v1', type: 'taxpayer.changed', source: 'gateway', subject: ISSUER, key: ISSUER };
  await bus.publish([makeEvent({ ...draft, data }, { id: randomUUID(), time: new Date() })]);
}
