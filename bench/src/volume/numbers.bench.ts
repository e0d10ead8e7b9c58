// Automatic numbers: POST /fe_Submit with 64 callers without eNCF, against the same invoices with eNCF in the same run; and the draws
// alone by 64 callers on two instances of the number store over one database. Fails on a gap or a number given twice.
//
// Settings: BENCH_ROUNDS (3), BENCH_CALLS (500), BENCH_DRAWS (10000); BENCH_SECONDS (240) ends it.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { NumberRange } from '@ecf/contracts';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { createPostgresNumberStore } from '@ecf/emission';
import { openDatabase } from '@ecf/service-kit/postgres';
import { embeddedDatabaseUrl } from '@ecf/test-servers/deployment';
import { benchFolder, endAfter } from '../harness/ending.js';
import { createLoad } from '../harness/load.js';
import { median, percentile } from '../harness/measure.js';
import { heading, line } from '../harness/report.js';
import { encfOf } from '../inputs/sample.js';
import { startSubject } from '../subject/subject.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CALLS = Number(process.env.BENCH_CALLS ?? 500);
const DRAWS = Number(process.env.BENCH_DRAWS ?? 10_000);
const CALLERS = 64;
const LINES = 10;
/** The automatic numbers begin above those that the calls state. */
const FIRST = 5_000_000;
const RANGES: NumberRange[] = [
  { env: 'TesteCF', ecf_type: '31', from: encfOf(1), to: encfOf(FIRST - 1), expires: '2028-12-31' },
  { env: 'TesteCF', ecf_type: '31', from: encfOf(FIRST), to: encfOf(2 * FIRST), expires: '2028-12-31' },
];

endAfter(Number(process.env.BENCH_SECONDS ?? 240));
const folder = path.join(benchFolder(), 'subject');
const subject = await startSubject(folder, formatDocumentDate(toCalendarDate(new Date())), LINES);
const url = embeddedDatabaseUrl(folder, 'emission');
try {
  await draws();
  await submissions();
} finally {
  await subject.standalone.end('SIGTERM');
}

/** The numbers of each range are used from its beginning on, so those of the calls without eNCF follow the stated ones. */
async function submissions(): Promise<void> {
  const { demo } = subject.standalone;
  await registerRange();
  const load = createLoad(demo.base_url, (status, text) => status === 200 && text.includes('"EnProceso"'));
  const rates: Record<'stated' | 'automatic', number[]> = { stated: [], automatic: [] };
  const latencies: Record<'stated' | 'automatic', number[]> = { stated: [], automatic: [] };
  const statedCalls = () => subject.nextCalls(CALLS);
  const automaticCalls = () =>
    subject.nextCalls(CALLS).map((call) => ({
      ...call,
      headers: { ...call.headers, 'idempotency-key': randomUUID() },
      body: Buffer.from(
        call.body
          .toString()
          .replace(`"eNCF":"${call.encf}",`, '')
          .replace('"FechaVencimientoSecuencia":"31-12-2028",', ''),
      ),
    }));
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [name, calls] of [
      ['stated', statedCalls],
      ['automatic', automaticCalls],
    ] as const) {
      const taken = await load.round(calls(), CALLERS);
      await subject.decided();
      // The first round warms up.
      if (round === 0) continue;
      rates[name].push(CALLS / taken.seconds);
      latencies[name].push(...taken.latencies);
    }
  load.close();
  heading(`POST /fe_Submit, ${CALLERS} callers, ${LINES} lines, ${ROUNDS} rounds of ${CALLS}, STATUS_WAIT_MS=0`);
  for (const name of ['stated', 'automatic'] as const) {
    const [p50, p99] = [0.5, 0.99].map((share) => `${(percentile(latencies[name], share) * 1e3).toFixed(0)} ms`);
    line(`${name}: ${median(rates[name]).toFixed(0)}/s, p50 ${p50}, p99 ${p99}`);
  }
  line(`automatic : stated = ${(median(rates.automatic) / median(rates.stated)).toFixed(2)}`);
  const database = openDatabase(url, { max: 1 });
  const { rows } = await database.query<{ encf: string }>(
    `SELECT encf FROM emission WHERE issuer_rnc = $1 AND encf >= $2 ORDER BY encf`,
    [demo.issuer_rnc, encfOf(FIRST)],
  );
  await database.close();
  refuseGaps(
    rows.map(({ encf }) => encf),
    (ROUNDS + 1) * CALLS,
  );
}

async function registerRange(): Promise<void> {
  const { base_url, admin_token, issuer_rnc } = subject.standalone.demo;
  const admin = async (place: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${admin_token}`, 'content-type': 'application/json' };
    const response = await fetch(`${base_url}/admin${place}`, { ...init, headers });
    if (!response.ok) throw new Error(`${place} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  for (const { id } of (await admin('/accounts')) as { id: string }[]) {
    const taxpayers = (await admin(`/accounts/${id}/taxpayers`)) as { rnc: string }[];
    if (!taxpayers.some(({ rnc }) => rnc === issuer_rnc)) continue;
    const place = `/accounts/${id}/taxpayers/${issuer_rnc}/ranges`;
    await admin(place, { method: 'PUT', body: JSON.stringify(RANGES) });
  }
  // The stated numbers are below: the first range is left to the callers.
  const database = openDatabase(url, { max: 1 });
  await database.query(`INSERT INTO number_position VALUES ('TesteCF', $1, '31', 1, $2)`, [issuer_rnc, FIRST]);
  await database.close();
}

async function draws(): Promise<void> {
  const databases = [1, 2].map(() => openDatabase(url, { max: 4 }));
  const stores = databases.map((database) => createPostgresNumberStore(database, 10_000));
  const drawn: string[] = [];
  let left = DRAWS;
  const began = performance.now();
  const latencies: number[] = [];
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      while (left > 0) {
        left -= 1;
        const started = performance.now();
        const draw = await stores[caller % stores.length]?.draw({
          accountId: 'bench',
          env: 'TesteCF',
          idempotencyKey: randomUUID(),
          issuerRnc: '101000015',
          ecfType: '31',
          token: randomUUID(),
          ranges: RANGES.slice(1),
        });
        if (draw?.outcome !== 'drawn') throw new Error(`a draw ended with ${draw?.outcome}`);
        latencies.push(performance.now() - started);
        drawn.push(draw.encf);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  heading(`draws by ${CALLERS} callers on two instances`);
  const [p50, p99] = [0.5, 0.99].map((share) => `${percentile(latencies, share).toFixed(0)} ms`);
  line(`${(DRAWS / seconds).toFixed(0)} numbers/s, p50 ${p50}, p99 ${p99}`);
  // Reservations end after ten seconds, and the numbers would be given again.
  if (seconds < 10) refuseGaps(drawn.sort(), DRAWS);
  await databases[0]?.query('DELETE FROM reserved_number');
  await Promise.all(databases.map((database) => database.close()));
}

function refuseGaps(encfs: readonly string[], count: number): void {
  const wrong = Array.from({ length: count }, (_, index) => encfOf(FIRST + index)).filter(
    (encf, index) => encfs[index] !== encf,
  );
  if (encfs.length !== count || wrong.length > 0)
    throw new Error(`${encfs.length} numbers instead of ${count}; the first that is wrong is ${wrong[0]}`);
  line(`no gap, no number twice in ${count}`);
}
