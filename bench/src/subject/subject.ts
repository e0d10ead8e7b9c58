import { setTimeout as delay } from 'node:timers/promises';
import { type DeploymentName, type DeploymentProcess, startDeploymentProcess } from '@ecf/test-servers/deployment';
import type { Call, Load } from '../harness/load.js';
import { encfOf, invoice, type Parties } from '../inputs/sample.js';

const BOUNDARY = 'invoice-of-the-benchmark';

/** The gateway in the form that users run, with the calls that submit invoices. */
export interface Subject {
  standalone: DeploymentProcess;
  /** The next invoices, each under its own number, as calls of `/fe_Submit`. */
  nextCalls(count: number): (Call & { encf: string })[];
  /** The next so many invoices as JSON, as lines of a batch. */
  nextDocuments(count: number): string[];
  /** Resolves when the background has a verdict on every submitted document, or on all but so many. */
  decided(but?: number): Promise<void>;
}

/** Starts a deployment; `/fe_Submit` does not wait for verdicts. */
export async function startSubject(
  dataDir: string,
  date: string,
  lines: number,
  deployment: DeploymentName = 'standalone',
  {
    toSandboxBuyer = false,
    nodeOptions = process.env.BENCH_NODE_OPTIONS?.split(' ') ?? [],
    settings = {},
  }: { toSandboxBuyer?: boolean; nodeOptions?: readonly string[]; settings?: Readonly<Record<string, string>> } = {},
): Promise<Subject> {
  // The simulator allows more queries than the authority, so that rounds wait less for each other.
  const env = { STATUS_WAIT_MS: '0', POLL_RATE: '1000', LOG_LEVEL: 'warn', ...settings };
  const standalone = await startDeploymentProcess(deployment, dataDir, env, nodeOptions);
  const { api_key, issuer_rnc, buyer_rnc, metrics_url } = standalone.demo;
  // By default the buyer has no receiver. With the buyer of the sandbox, the gateway receives what it delivers.
  const parties: Parties = { issuer: issuer_rnc, buyer: toSandboxBuyer ? buyer_rnc : '131999999', date };
  const json = JSON.stringify(invoice(encfOf(0), lines, parties));
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: application/json\r\n\r\n`;
  const headers = { 'x-api-key': api_key, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  // The first numbers belong to the invoices of the first start.
  const first = 10;
  let last = first;

  const nextDocuments = (count: number) =>
    Array.from({ length: count }, () => {
      last += 1;
      return json.replace(encfOf(0), encfOf(last));
    });

  return {
    standalone,
    nextDocuments,
    nextCalls: (count) =>
      nextDocuments(count).map((document, index) => {
        const body = Buffer.from(`${head}${document}\r\n--${BOUNDARY}--\r\n`);
        return { path: '/fe_Submit', headers, body, encf: encfOf(last - count + 1 + index) };
      }),
    async decided(but = 0) {
      for (;;) {
        const missing = last - first - (await countOfDecisions(metrics_url));
        if (missing <= but) return;
        // The metrics cost the subject processor time too, so they are read often at the end only.
        await delay(missing > NEARLY_ALL ? 1_000 : 200);
      }
    },
  };
}

/** Submits one invoice after another until `end` settles; the seconds of each. */
export async function submissionsUntil(
  load: Load,
  { nextCalls }: Pick<Subject, 'nextCalls'>,
  end: Promise<unknown>,
): Promise<number[]> {
  const latencies: number[] = [];
  let ended = false;
  const settled = end.finally(() => {
    ended = true;
  });
  while (!ended) latencies.push(...(await load.round(nextCalls(1), 1)).latencies);
  await settled;
  return latencies;
}

const NEARLY_ALL = 200;

async function countOfDecisions(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const values = [...text.matchAll(/^ecf_decisions_total\{.*\} (\d+)$/gm)].map(([, value]) => Number(value));
  return values.reduce((sum, value) => sum + value, 0);
}
