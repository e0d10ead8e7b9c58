import { setTimeout as delay } from 'node:timers/promises';
import { type DeploymentName, type DeploymentProcess, startDeploymentProcess } from '@ecf/test-servers/deployment';
import type { Call } from '../harness/load.js';
import { childCalled, descendantsOf, processorSecondsOfTree } from '../harness/processes.js';
import { encfOf, type InvoiceParties, invoice } from '../inputs/sample.js';

const BOUNDARY = 'invoice-of-the-benchmark';

/** What differs between invoices: by default the lines of the subject, and a buyer without a receiver. */
export interface InvoiceForm {
  lines?: number;
  buyer?: string;
}

/** The gateway in the form that users run, with the calls that submit invoices. */
export interface Subject {
  standalone: DeploymentProcess;
  /** The next invoices, each under its own number, as calls of `/fe_Submit`. */
  nextCalls(count: number, form?: InvoiceForm): (Call & { encf: string })[];
  /** Posts the next invoices as a batch; resolves with its 202. */
  postBatch(count: number): Promise<void>;
  /** Seconds of processor time of all processes but the simulator and Kafka. */
  processorSeconds(): number;
  /**
   * Resolves when the background has a verdict on every document that was submitted.
   * @param others documents of other accounts since the start
   */
  decided(others?: number): Promise<void>;
}

/**
 * Starts a deployment; `/fe_Submit` does not wait for verdicts.
 *
 * @param first the last number that is used already; the first numbers belong to the invoices of the first start
 */
export async function startSubject(
  dataDir: string,
  date: string,
  lines: number,
  deployment: DeploymentName = 'standalone',
  settings: Readonly<Record<string, string>> = {},
  first = 10,
): Promise<Subject> {
  // The simulator allows more queries than the authority, so that rounds wait less for each other.
  const env = { STATUS_WAIT_MS: '0', POLL_RATE: '1000', LOG_LEVEL: 'warn', ...settings };
  const nodeOptions = process.env.BENCH_NODE_OPTIONS?.split(' ') ?? [];
  const standalone = await startDeploymentProcess(deployment, dataDir, env, nodeOptions);
  const { api_key, issuer_rnc, metrics_url } = standalone.demo;
  const jsonOf = (form: InvoiceForm) => {
    const parties: InvoiceParties = { issuer: issuer_rnc, buyer: form.buyer ?? '131999999', date };
    return JSON.stringify(invoice(encfOf(0), form.lines ?? lines, parties));
  };
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: application/json\r\n\r\n`;
  const headers = { 'x-api-key': api_key, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  let last = first;

  const nextDocuments = (count: number, form: InvoiceForm = {}) => {
    const json = jsonOf(form);
    return Array.from({ length: count }, () => {
      last += 1;
      return json.replace(encfOf(0), encfOf(last));
    });
  };

  const deploymentPid = standalone.child.pid as number;
  return {
    standalone,
    async postBatch(count) {
      const response = await fetch(`${standalone.demo.base_url}/batches`, {
        method: 'POST',
        headers: { 'x-api-key': api_key, 'content-type': 'application/x-ndjson' },
        body: `${nextDocuments(count).join('\n')}\n`,
      });
      if (response.status !== 202) throw new Error(`/batches answered ${response.status}: ${await response.text()}`);
    },
    processorSeconds() {
      const simulator = childCalled(deploymentPid, 'authority-simulator');
      const others = descendantsOf(deploymentPid).filter(({ pid, command }) => pid === simulator || command === 'java');
      return others.reduce((rest, { own }) => rest - own, processorSecondsOfTree(deploymentPid));
    },
    nextCalls: (count, form) =>
      nextDocuments(count, form).map((document, index) => {
        const body = Buffer.from(`${head}${document}\r\n--${BOUNDARY}--\r\n`);
        return { path: '/fe_Submit', headers, body, encf: encfOf(last - count + 1 + index) };
      }),
    async decided(others = 0) {
      for (;;) {
        const missing = last - first + others - (await countOfDecisions(metrics_url));
        if (missing <= 0) return;
        // The metrics cost the subject processor time too, so they are read often at the end only.
        await delay(missing > NEARLY_ALL ? 1_000 : 200);
      }
    },
  };
}

const NEARLY_ALL = 200;

async function countOfDecisions(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const values = [...text.matchAll(/^ecf_decisions_total\{.*\} (\d+)$/gm)].map(([, value]) => Number(value));
  return values.reduce((sum, value) => sum + value, 0);
}
