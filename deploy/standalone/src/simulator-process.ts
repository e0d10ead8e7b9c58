import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The authority simulator as a process of its own beside the gateway; restarted on the same port when it dies. */
export interface SimulatorProcess {
  url: string;
  pid(): number | undefined;
  stop(): Promise<void>;
}

interface Options {
  dataDir: string;
  statusKey: string;
  env: NodeJS.ProcessEnv;
  onRestart(reason: string): void;
}

/**
 * Starts the simulator and waits until it answers.
 * @throws Error when it ends before it is ready; the message carries its last words.
 */
export async function startSimulator(options: Options): Promise<SimulatorProcess> {
  const entry = path.join(
    path.dirname(createRequire(import.meta.url).resolve('@ecf/authority-simulator/package.json')),
    'dist/main.js',
  );
  let stopping = false;
  let child: ChildProcess;

  const launch = async (port: string): Promise<string> => {
    child = fork(entry, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A group of its own: Ctrl-C reaches this process first, which then stops its children in order.
      detached: true,
      env: {
        ...options.env,
        SIMULATOR_PORT: port,
        SIMULATOR_DATA: options.dataDir,
        SIMULATOR_STATUS_KEY: options.statusKey,
      },
    });
    return readyUrl(child);
  };

  const url = await launch(options.env.SIMULATOR_PORT ?? '0');
  const port = new URL(url).port;
  const watch = (): void => {
    child.once('exit', (code, signal) => {
      if (stopping) return;
      options.onRestart(`the authority simulator ended (${signal ?? code}); starting it again`);
      launch(port).then(watch, (error) => options.onRestart(String(error)));
    });
  };
  watch();

  return {
    url,
    pid: () => child.pid,
    stop: () => {
      stopping = true;
      return ended(child);
    },
  };
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let errors = '';
    let output = '';
    child.stderr?.on('data', (chunk) => {
      errors = `${errors}${chunk}`.slice(-4000);
    });
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      for (const line of output.split('\n').slice(0, -1)) {
        // Other lines are whatever instrumentation prints.
        const url = /^\{"ready":true,"url":"([^"]+)"\}$/.exec(line.trim())?.[1];
        if (url !== undefined) resolve(url);
      }
      output = output.slice(output.lastIndexOf('\n') + 1);
    });
    child.once('exit', (code, signal) =>
      reject(new Error(`The authority simulator did not start (${signal ?? `exit code ${code}`}). ${errors.trim()}`)),
    );
    child.once('error', reject);
  });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill('SIGKILL'), 5000);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
