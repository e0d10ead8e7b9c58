// `ecf keys reseal` of many certificates on the standalone deployment, while one caller submits: time, processor time, and the
// caller's p99 beside it against alone. The certificates are uploaded by the administration first, which takes longer.
//
// BENCH_CERTIFICATES (10000).
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { startDeploymentProcess } from '@ecf/test-servers/deployment';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { benchFolder } from '../harness/ending.js';
import { createLoad } from '../harness/load.js';
import { percentile } from '../harness/measure.js';
import { childCalled, processorSeconds, processorSecondsOfTree } from '../harness/processes.js';
import { heading, line } from '../harness/report.js';
import { startSubject, submissionsUntil } from '../subject/subject.js';

const CERTIFICATES = Number(process.env.BENCH_CERTIFICATES ?? 10_000);
const UPLOADS_AT_ONCE = 8;
const FIRST_RNC = 200_000_000;
const PASSWORD = 'bench';
const ECF = fileURLToPath(new URL('../../../node_modules/.bin/ecf', import.meta.url));

const folder = path.join(benchFolder(), 'subject');
heading(`ecf keys reseal of ${CERTIFICATES} certificates`);
await upload();
const { masterKey } = JSON.parse(readFileSync(path.join(folder, 'secrets.json'), 'utf8')) as { masterKey: string };
const date = formatDocumentDate(toCalendarDate(new Date()));
const settings = { MASTER_KEY: `${randomBytes(32).toString('base64')},${masterKey}` };
const subject = await startSubject(folder, date, 10, 'standalone', { settings });
const load = createLoad(
  subject.standalone.demo.base_url,
  (status, text) => status === 200 && text.includes('"EnProceso"'),
);
try {
  await measure();
} finally {
  load.close();
  await subject.standalone.end('SIGTERM');
}

/** One certificate for taxpayers of an account of their own, through the administration. */
async function upload(): Promise<void> {
  const { demo, end } = await startDeploymentProcess('standalone', folder, { LOG_LEVEL: 'warn' });
  const headers = { authorization: `Bearer ${demo.admin_token}` };
  const admin = async (method: string, where: string, body: string | FormData): Promise<{ id?: string }> => {
    const json = typeof body === 'string';
    const answer = await fetch(`${demo.base_url}/admin${where}`, {
      method,
      headers: json ? { ...headers, 'content-type': 'application/json' } : headers,
      body,
    });
    if (!answer.ok) throw new Error(`${method} ${where} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id?: string };
  };
  const { p12 } = createCertificateAuthority().issue({
    commonName: 'A TAXPAYER',
    holderId: '00100000001',
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    password: PASSWORD,
  });
  const { id } = await admin('POST', '/accounts', JSON.stringify({ name: 'ten thousand' }));
  let next = 0;
  const uploads = async (): Promise<void> => {
    while (next < CERTIFICATES) {
      const rnc = String(FIRST_RNC + next++);
      await admin('POST', `/accounts/${id}/taxpayers`, JSON.stringify({ rnc, name: 'A TAXPAYER' }));
      const form = new FormData();
      form.append('certificate', new Blob([new Uint8Array(p12)]), 'certificate.p12');
      form.append('password', PASSWORD);
      await admin('PUT', `/accounts/${id}/taxpayers/${rnc}/certificate`, form);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, uploads));
  line(`uploaded in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  await end('SIGTERM');
}

async function measure(): Promise<void> {
  const program = subject.standalone.child.pid as number;
  const cpu = () => processorSeconds(program) + processorSecondsOfTree(childCalled(program, 'postgres'));
  await load.round(subject.nextCalls(300), 8);
  await subject.decided();
  const alone = await submissionsUntil(load, subject, delay(15_000));
  const [began, before] = [performance.now(), cpu()];
  const beside = await submissionsUntil(load, subject, reseal());
  const [seconds, used] = [(performance.now() - began) / 1_000, cpu() - before];
  line(
    `resealed, every service reports nothing under the older key: ${seconds.toFixed(1)} s, ` +
      `${used.toFixed(1)} s of processor time with the submissions beside it (gateway and PostgreSQL)`,
  );
  line(
    `one caller: alone p50 ${ms(alone, 0.5)}, p99 ${ms(alone, 0.99)} of ${alone.length}; ` +
      `beside p50 ${ms(beside, 0.5)}, p99 ${ms(beside, 0.99)} of ${beside.length}`,
  );
}

function reseal(): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(ECF, ['keys', 'reseal', '--data-dir', folder, '--json'], (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

function ms(seconds: readonly number[], share: number): string {
  return `${(percentile([...seconds], share) * 1_000).toFixed(0)} ms`;
}
