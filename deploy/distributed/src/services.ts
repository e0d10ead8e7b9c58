import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SERVICE_NAMES, type ServiceName, variablePrefix } from '@ecf/contracts';
import { type Environment, foreignProgram, type KeptProcess, keepRunning, nodeProgram } from '@ecf/deployment';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TELEMETRY = new URL('../../../packages/service/dist/telemetry.js', import.meta.url).href;
const REPORT_MS = 10_000;
const POLL_MS = 50;

function programOf(service: ServiceName): string {
  return path.join(ROOT, 'services', service, 'dist', 'main.js');
}

/** One process of one service. */
export interface Place {
  /** `emission`, `emission-2`, ... */
  name: string;
  service: ServiceName;
  /** Number of the instance, from 1. */
  instance: number;
  url: string;
  metricsUrl: string;
  env: Environment;
}

/**
 * The address of each process. The first instance of each service calls the first instances of the others, the second the second,
 * and so on. These chains share databases, topics and archive. All chains know a service that runs once.
 *
 * @param several services with `instances` processes; empty = all
 * @param ports two for each process
 */
export function placesOf(
  { instances, several = [] }: { instances: number; several?: readonly string[] },
  ports: readonly number[],
  gateway: { host: string; port: number },
  settingsOf: (service: ServiceName) => Environment,
): Place[] {
  const free = [...ports];
  const places: Place[] = [];
  const first = new Map<ServiceName, string>();
  for (let instance = 1; instance <= instances; instance += 1) {
    const begun = SERVICE_NAMES.filter((name) => instance === 1 || several.length === 0 || several.includes(name));
    const own = new Map(begun.map((service) => [service, String(free.shift())]));
    if (instance === 1 && gateway.port !== 0) own.set('gateway', String(gateway.port));
    const peers = SERVICE_NAMES.map((service) => [
      `${variablePrefix(service)}_URL`,
      `http://127.0.0.1:${own.get(service) ?? first.get(service)}`,
    ]);
    for (const service of begun) {
      const port = own.get(service) as string;
      if (instance === 1) first.set(service, port);
      const metricsPort = String(free.shift());
      const host = service === 'gateway' ? gateway.host : '127.0.0.1';
      places.push({
        name: instance === 1 ? service : `${service}-${instance}`,
        service,
        instance,
        url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
        metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
        env: {
          ...withoutSecondAdmin(settingsOf(service), instance),
          ...Object.fromEntries(peers),
          HOST: host,
          PORT: port,
          METRICS_PORT: metricsPort,
        },
      });
    }
  }
  return places;
}

/** Two processes cannot listen on ADMIN_PORT, so only the first gateway has the administration. */
function withoutSecondAdmin(settings: Environment, instance: number): Environment {
  return instance > 1 && settings.ADMIN_PORT
    ? { ...settings, ADMIN_PORT: undefined, ADMIN_TOKEN: undefined }
    : settings;
}

/**
 * Starts a service as a separate process and waits until it answers.
 *
 * @param runner a program that starts the service, from an image or another version; undefined = the program of this version
 */
export function startService(
  place: Place,
  runner: string | undefined,
  onChange: (what: string) => void,
): Promise<KeptProcess> {
  const { OTEL_SERVICE_NAME: _name, ...env } = place.env;
  return keepRunning({
    name: place.name,
    begin: () =>
      runner === undefined
        ? nodeProgram(programOf(place.service), env, ['--enable-source-maps', '--import', TELEMETRY])
        : foreignProgram(runner, [place.service, place.name], env as NodeJS.ProcessEnv),
    ready: () => answers(`${place.url}/health/live`),
    output: (chunk) => process.stdout.write(chunk),
    onChange,
  });
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    await response?.arrayBuffer();
    if (response?.ok === true) return;
    await delay(POLL_MS);
  }
}

/**
 * Resolves when the gateway and all services behind it are ready. Prints the missing ones every ten seconds.
 */
export async function allReady(url: string, signal: AbortSignal, say: (what: string) => void): Promise<void> {
  for (let reportedAt = Date.now(); !signal.aborted; await delay(POLL_MS * 2)) {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
    const body = (await response?.json().catch(() => null)) as { checks?: Record<string, string> } | null;
    const awaited = Object.entries(body?.checks ?? { gateway: 'no answer' }).filter(([, words]) => words !== 'ok');
    if (response?.ok === true && awaited.length === 0) return;
    if (Date.now() - reportedAt < REPORT_MS) continue;
    reportedAt = Date.now();
    say(`waiting for ${awaited.map(([name, words]) => `${name} (${words})`).join(', ')}`);
  }
}
