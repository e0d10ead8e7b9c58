import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { controlRoutes, reset } from './control/control.js';
import { readFault } from './control/input.js';
import { submissionRow } from './control/submission-row.js';
import { TestCertificates } from './control/test-certificates.js';
import { FaultPlan } from './faults.js';
import { createApp } from './http/app.js';
import { CertificationSets } from './ledger/certification-sets.js';
import { DocumentReader } from './ledger/document-facts.js';
import { lockFolder } from './ledger/folder-lock.js';
import { Journal } from './ledger/journal.js';
import { Ledger } from './ledger/ledger.js';
import { TaxpayerRegister } from './ledger/taxpayer-register.js';
import { Seeds, Tokens } from './logins.js';
import { MaintenancePlan } from './operations/maintenance.js';
import { routesOf } from './routes.js';
import type { Simulator, SimulatorOptions } from './settings.js';
import type { Simulation } from './simulation.js';

/**
 * Starts a tax authority that listens on HTTP.
 *
 * @throws Error when the port is taken or the data folder is used by another simulator
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const folder = options.dataDir ?? null;
  if (folder !== null) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unlock = folder === null ? null : await lockFolder(folder);
  let url = '';
  const journal = new Journal(folder === null ? null : path.join(folder, 'journal.ndjson'));
  const simulation = simulationOf(options, journal, () => options.publicUrl ?? url);
  const { faults, ledger, clock, newId } = simulation;
  const disturbance = {
    latencyMs: options.latencyMs ?? 0,
    errorRate: options.errorRate ?? 0,
    random: options.random ?? Math.random,
  };
  const app = createApp(simulation, routesOf(simulation), controlRoutes(simulation), disturbance);
  const server = http.createServer({ noDelay: true, keepAliveTimeout: 75_000 }, app);
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const { family, address, port } = server.address() as AddressInfo;
  url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  return {
    url,
    port,
    submissions: () => Array.from(ledger.list(), (each) => submissionRow(each, clock().getTime())),
    fail(request) {
      const fault = readFault(Buffer.from(JSON.stringify(request)), newId());
      faults.add(fault);
      return fault.id;
    },
    reset: () => void reset(simulation),
    certificate: (holder = {}) => simulation.certificates.issue(holder, clock()),
    async stop() {
      faults.clear();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      journal.close();
      unlock?.();
    },
  };
}

function simulationOf(options: SimulatorOptions, journal: Journal, publicUrl: () => string): Simulation {
  const bytes = options.randomBytes ?? randomBytes;
  const ledger = new Ledger(journal);
  const taxpayers = new TaxpayerRegister(journal);
  const certification = new CertificationSets(options.strictCertification ?? false, journal);
  let tokenKey: Buffer | null = null;
  for (const [entry, place] of journal.entries()) {
    ledger.replay(entry, place);
    taxpayers.replay(entry);
    certification.replay(entry);
    if (entry.t === 'token-key') tokenKey = Buffer.from(entry.key, 'base64');
  }
  if (tokenKey === null) {
    tokenKey = Buffer.from(bytes(32));
    journal.append({ t: 'token-key', key: tokenKey.toString('base64') });
  }
  for (const entry of options.demo ?? []) taxpayers.put(entry);
  for (const submission of ledger.list()) certification.decided(submission);
  return {
    ledger,
    taxpayers,
    certification,
    facts: new DocumentReader(ledger),
    seeds: new Seeds(bytes),
    tokens: new Tokens(tokenKey),
    faults: new FaultPlan(options.random ?? Math.random),
    certificates: new TestCertificates(),
    maintenance: new MaintenancePlan(),
    signatures: { strict: false },
    processingMs: options.processingMs ?? 200,
    statusKey: options.statusKey ?? null,
    publicUrl,
    clock: options.clock ?? (() => new Date()),
    newId: options.newId ?? randomUUID,
  };
}
