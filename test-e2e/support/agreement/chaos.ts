import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, Client } from '../client.js';
import type { Standalone } from '../deployment/standalone-process.js';
import type { Invoice, Numbering } from '../documents/documents.js';

const EXAMPLES = ['ecf-31', 'ecf-32', 'ecf-31', 'ecf-32', 'ecf-41', 'ecf-43', 'ecf-44', 'ecf-45', 'ecf-46', 'ecf-47'];
const CALLERS = 32;
const TIMEOUT_MS = 240_000;

/** An invoice of the load, with the last answer to it. */
export interface Submitted {
  encf: string;
  invoice: Invoice;
  calls: number;
  answer: Answer;
}

/** A client for each gateway of the deployment; a standalone deployment has one. */
export function clientsOf(running: Standalone): Client[] {
  const gateways = running.processes().filter(({ name }) => /^gateway(-\d+)?$/.test(name));
  if (gateways.length === 0) return [new Client(running)];
  return gateways.map(({ url }) => new Client({ ...running, demo: { ...running.demo, base_url: url as string } }));
}

/**
 * 32 callers submit mixed invoices. Each repeats its invoice at changing gateways until it gets 200; two callers submit
 * every tenth invoice immediately.
 */
export async function load(
  running: Standalone,
  numbers: Numbering,
  count: number,
  onProgress: (done: number) => void,
  examples: readonly string[] = EXAMPLES,
): Promise<Submitted[]> {
  const clients = clientsOf(running);
  const results: Submitted[] = [];
  let next = 0;
  async function submit(index: number, invoice: Invoice, encf: string): Promise<Submitted> {
    for (let calls = 1, end = Date.now() + TIMEOUT_MS; ; calls += 1) {
      const client = clients[(index + calls) % clients.length] as Client;
      const answer = await client.submit(invoice).catch(() => null);
      if (answer?.status === 200) return { encf, invoice, calls, answer };
      if (answer !== null && ![408, 409, 429, 502, 503].includes(answer.status))
        throw new Error(`${encf}: ${answer.text}`);
      if (Date.now() > end) throw new Error(`${encf} within ${TIMEOUT_MS} ms: ${answer?.text ?? 'no answer'}`);
      await delay(100 + Math.random() * 200);
    }
  }
  async function caller(): Promise<void> {
    for (let index = next++; index < count; index = next++) {
      const { invoice, encf } = numbers.next(examples[index % examples.length]);
      const twins = index % 10 === 0 ? [submit(index, invoice, encf), submit(index + 1, invoice, encf)] : [];
      const all = await Promise.all(twins.length > 0 ? twins : [submit(index, invoice, encf)]);
      results.push(all[0] as Submitted);
      onProgress(results.length);
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return results;
}

/** Kills the named processes one after the other, evenly over the load; the deployment restarts each. */
export function killer(running: Standalone, victims: readonly string[], count: number) {
  const log: { name: string; at: number }[] = [];
  return {
    log,
    onProgress(done: number): void {
      const due = Math.min(victims.length, Math.floor((done / count) * (victims.length + 1)));
      for (const name of victims.slice(log.length, due)) {
        const pid = running.processes().find((one) => one.name === name)?.pid;
        if (pid === undefined || pid === null) break;
        log.push({ name, at: done });
        process.kill(pid, 'SIGKILL');
      }
    },
  };
}
