import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Seeds } from './authentication/seeds.js';
import { Tokens } from './authentication/tokens.js';
import { CertificationSets } from './certification/certification-sets.js';
import { controlRoutes } from './control/control.js';
import { FaultPlan } from './faults/fault-plan.js';
import { createApp } from './http/app.js';
import { DocumentReader } from './ledger/document-facts.js';
import { FolderLock } from './ledger/folder-lock.js';
import { Ledger } from './ledger/ledger.js';
import { TaxpayerRegister } from './ledger/taxpayer-register.js';
import { MaintenancePlan } from './operations/maintenance.js';
import type { Simulator, SimulatorOptions } from './options.js';
import { routesOf } from './routes.js';
import type { Simulation } from './simulation.js';

/**
 * Starts a tax authority that listens on HTTP.
 *
 * @throws Error when the port is taken or the data folder is used by another simulator
 */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const folder = options.dataDir ?? null;
  if (folder !== null) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const instance = (options.newId ?? randomUUID)();
  const lock = await FolderLock.take(folder, instance);
  let url = '';
  const simulation = simulationOf(options, folder, () => options.publicUrl ?? url);
  const { ledger, faults } = simulation;
  const disturbance = {
    latencyMs: options.latencyMs ?? 0,
    errorRate: options.errorRate ?? 0,
    random: options.random ?? Math.random,
  };
  const app = createApp(simulation, routesOf(simulation), controlRoutes({ ...simulation, instance }), disturbance);
  const server = http.createServer({ noDelay: true, keepAliveTimeout: 75_000 }, app);
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const { family, address, port } = server.address() as AddressInfo;
  url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  lock.hold(url);
  return {
    url,
    port,
    async stop() {
      faults.clear();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      ledger.close();
      lock.release();
    },
  };
}

function simulationOf(options: SimulatorOptions, folder: string | null, publicUrl: () => string): Simulation {
  const bytes = options.randomBytes ?? randomBytes;
  const ledger = new Ledger(folder);
  const taxpayers = new TaxpayerRegister(folder);
  for (const entry of options.demo ?? []) taxpayers.put(entry);
  const certification = new CertificationSets(options.strictCertification ?? false, folder);
  for (const submission of ledger.list()) certification.decided(submission);
  return {
    ledger,
    taxpayers,
    certification,
    facts: new DocumentReader(ledger),
    seeds: new Seeds(bytes),
    tokens: new Tokens(tokenSecret(folder, bytes)),
    faults: new FaultPlan(options.random ?? Math.random),
    maintenance: new MaintenancePlan(),
    signatures: { strict: false },
    processingMs: options.processingMs ?? 200,
    statusKey: options.statusKey ?? null,
    publicUrl,
    clock: options.clock ?? (() => new Date()),
    newId: options.newId ?? randomUUID,
  };
}

/** The key of the tokens stays, so that tokens outlive a restart as the authority's do. */
function tokenSecret(folder: string | null, bytes: (length: number) => Buffer): Buffer {
  if (folder === null) return bytes(32);
  const file = path.join(folder, 'token-key');
  if (!existsSync(file)) writeFileSync(file, bytes(32), { mode: 0o600 });
  return readFileSync(file);
}
