import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { errorBodySchema } from '@ecf/contracts';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { answersSeen, Client, secretsSeen } from '../client.js';
import { type Standalone, startDeployment } from './standalone-process.js';

/**
 * Calls wait long for verdicts and answers, so a slow machine changes no answer. Everything is logged, so a leaked secret shows.
 */
const LONG_WAITS = {
  STATUS_WAIT_MS: '15000',
  STATUS_BUDGET_MS: '15000',
  APPROVAL_ISSUER_WAIT_MS: '15000',
  PROCESSING_MS: '20',
  LOG_LEVEL: 'trace',
};

/** The deployment named by ECF_DEPLOYMENT; it lives as long as the test file. */
export interface Deployment {
  readonly running: Standalone;
  readonly dataDir: string;
  /** A client of the demo account. */
  readonly demo: Client;
  /** The metrics of all processes, in Prometheus' text format. */
  metrics(): Promise<string>;
}

/** Starts a deployment before the tests of the file and stops it after them; then checks its answers and its output. */
export function useDeployment(env: Record<string, string> = {}, options: { ownServers?: boolean } = {}): Deployment {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-e2e-'));
  let running: Standalone | undefined;
  beforeAll(async () => {
    // If the tests run as root, the database server runs as another user.
    fs.chmodSync(dataDir, 0o755);
    running = await startDeployment(dataDir, { ...LONG_WAITS, ...env }, options);
  });
  afterAll(async () => {
    // The start failed and has reported the reason.
    if (running === undefined) return fs.rmSync(dataDir, { recursive: true, force: true });
    try {
      await expectPublishedErrors(running);
    } finally {
      await running.end('SIGTERM');
    }
    try {
      expect(running.child.exitCode).toBe(0);
      expectNoSecrets(running, dataDir);
    } finally {
      fs.rmSync(dataDir, { recursive: true, force: true });
    }
  });
  return {
    get running() {
      return running as Standalone;
    },
    dataDir,
    get demo() {
      return new Client(running as Standalone);
    },
    metrics: async () => (await fetch((running as Standalone).demo.metrics_url)).text(),
  };
}

const WITH_RETRY_AFTER = [408, 429, 503];

/** Checks every error of the tests: the common body, a published code with its status, `Retry-After` if it belongs. */
async function expectPublishedErrors(running: Standalone): Promise<void> {
  const listed = (await new Client(running).call('GET', '/errors')).body as { code: string; status: number }[];
  const statuses = new Map(listed.map(({ code, status }) => [code, status]));
  for (const { place, answer } of answersSeen().filter(({ answer }) => answer.status >= 400)) {
    const { body, status, headers } = answer;
    const seen = { place, status, body, retry: headers.get('retry-after') !== null, id: headers.get('x-request-id') };
    const { code } = body;
    const forCertificate = /^certificate_|^status_key_missing$/.test(code);
    expect(seen).toEqual({
      place,
      status: statuses.get(code),
      body: expect.objectContaining({ code, request_id: headers.get('x-request-id') }),
      retry: WITH_RETRY_AFTER.includes(status) && !forCertificate,
      id: expect.any(String),
    });
    expect({ place, problem: errorBodySchema.strict().safeParse(body).error?.message }).toEqual({ place });
    for (const [index, fault] of body.faults.entries()) {
      expect(fault).toMatchObject({
        rule: expect.stringMatching(/^(schema|business|signature)\./),
        source: expect.stringMatching(/./),
      });
      expect(body.messages[index]).toContain(fault.path);
    }
  }
}

/** Checks that errors, output and the database's files hold no key, token, password or private key. */
function expectNoSecrets(running: Standalone, dataDir: string): void {
  const files = JSON.parse(fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8')) as Record<string, string>;
  const own = path.join(dataDir, 'postgres.password');
  const password = fs.existsSync(own) ? [fs.readFileSync(own, 'utf8').trim()] : [];
  const keys = path.join(dataDir, 'service-keys.json');
  const privateKeys = fs.existsSync(keys)
    ? Object.values<Record<string, string>>(JSON.parse(fs.readFileSync(keys, 'utf8'))).map(
        (one) => one.SERVICE_PRIVATE_KEY ?? '',
      )
    : [];
  const secrets = [...Object.values(files), ...privateKeys, ...password, ...secretsSeen()];
  const errors = answersSeen()
    .filter(({ answer }) => answer.status >= 400)
    .map(({ answer }) => answer.text)
    .join('\n');
  const output = running.output().replace(/^(your turn|see a fault) .*$/gm, '');
  const forms = [/ecf_(test|live)_[\w-]{20}/, /PRIVATE KEY/, /eyJ[\w-]{10,}\.[\w-]{10,}/, /Bearer [\w.-]{12}/];
  for (const text of [errors, output]) {
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    for (const form of forms) expect(text).not.toMatch(form);
  }
  for (const folder of ['postgres', 'xml', 'logs']) {
    if (!fs.existsSync(path.join(dataDir, folder))) continue;
    // Patterns go through standard input, so that no process list shows them.
    const found = grep(secrets, path.join(dataDir, folder));
    expect(found).toEqual([]);
  }
}

function grep(patterns: readonly string[], folder: string): string[] {
  try {
    const options = { input: `${patterns.join('\n')}\n`, stdio: ['pipe', 'pipe', 'ignore'] as const };
    return execFileSync('grep', ['-rlaF', '-f', '-', folder], { ...options, stdio: [...options.stdio] })
      .toString()
      .trim()
      .split('\n');
  } catch (error) {
    if ((error as { status?: number }).status === 1) return [];
    throw error;
  }
}
