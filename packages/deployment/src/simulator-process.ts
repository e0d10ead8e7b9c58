import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { readSettings, SettingRefused } from '@ecf/authority-simulator/settings';
import { ConfigError } from '@ecf/kit';
import { type KeptProcess, keepRunning, nodeProgram } from './child-process.js';

/** The authority simulator as its own process beside the gateway; restarted on the same port when it dies. */
export interface SimulatorProcess extends KeptProcess {
  readonly url: string;
}

interface Options {
  dataDir: string;
  statusKey: string;
  env: NodeJS.ProcessEnv;
  onChange(what: string): void;
}

/** Reads the simulator's settings as it will itself. Throws ConfigError naming every variable at fault. */
export function checkSimulatorSettings(env: NodeJS.ProcessEnv): void {
  try {
    readSettings(env);
  } catch (error) {
    throw error instanceof SettingRefused ? new ConfigError(error.problems) : error;
  }
}

/**
 * Starts the simulator and waits until it answers.
 * @throws Error when it ends before it is ready; the message carries its last words.
 */
export async function startSimulator(options: Options): Promise<SimulatorProcess> {
  const file = path.join(
    path.dirname(createRequire(import.meta.url).resolve('@ecf/authority-simulator/package.json')),
    'dist/main.js',
  );
  const env: NodeJS.ProcessEnv = {
    ...options.env,
    SIMULATOR_PORT: options.env.SIMULATOR_PORT ?? '0',
    SIMULATOR_DATA: options.dataDir,
    SIMULATOR_STATUS_KEY: options.statusKey,
  };
  let url = '';
  const kept = await keepRunning({
    name: 'authority-simulator',
    begin: () => nodeProgram(file, env),
    onChange: options.onChange,
    async ready(child) {
      url = await readyUrl(child);
      env.SIMULATOR_PORT = new URL(url).port;
    },
  });
  return { ...kept, url };
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      for (const line of output.split('\n').slice(0, -1)) {
        // Other lines are whatever instrumentation prints.
        const url = /^\{"ready":true,"url":"([^"]+)"\}$/.exec(line.trim())?.[1];
        if (url !== undefined) resolve(url);
      }
      output = output.slice(output.lastIndexOf('\n') + 1);
    });
  });
}
