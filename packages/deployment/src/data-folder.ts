import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartError } from '@ecf/service-kit/service';
import { makeSecrets, type Secrets } from './settings.js';

/** A process of a deployment of several. */
export interface DemoProcess {
  name: string;
  /** null while it is being started again. */
  pid: number | null;
  /** null for brokers and databases. */
  url: string | null;
  metrics_url: string | null;
}

/** The facts that a user of the sandbox needs; written as `demo.json` into the data folder. */
export interface Demo {
  base_url: string;
  api_key: string;
  admin_token: string;
  /** Present if `/admin` has a listener of its own. */
  admin_url?: string;
  issuer_rnc: string;
  buyer_rnc: string;
  authority_url: string;
  metrics_url: string;
  started_at: string;
  /** Present if services are separate processes. */
  processes?: DemoProcess[];
}

const ENDING_MS = 8_000;

/** The folder that holds everything a deployment keeps: database, documents, secrets, sandbox. */
export class DataFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = path.resolve(folder);
    fs.mkdirSync(this.path, { recursive: true });
  }

  /** Absolute path of a sub-folder or file. */
  file(...parts: string[]): string {
    return path.join(this.path, ...parts);
  }

  /**
   * Takes the folder for this process; a holder that is just ending is waited for.
   * @throws StartError when another live process holds it; the message names the process.
   */
  async lock(): Promise<() => void> {
    const file = this.file('deployment.pid');
    const holderOf = (): string | null => {
      const holder = readText(file)?.trim();
      return holder && Number(holder) !== process.pid && isRunning(Number(holder)) ? holder : null;
    };
    for (let waited = 0; holderOf() !== null && waited < ENDING_MS; waited += 100) await delay(100);
    const holder = holderOf();
    if (holder !== null) {
      throw new StartError(
        `The data folder ${this.path} is in use by process ${holder}. Stop that one, or set DATA_DIR to another folder.`,
      );
    }
    fs.writeFileSync(file, `${process.pid}\n`);
    return () => {
      if (readText(file)?.trim() === String(process.pid)) fs.rmSync(file, { force: true });
    };
  }

  /** The secrets of this folder, made at its first use. */
  secrets(): Secrets {
    const file = this.file('secrets.json');
    const present = readText(file);
    if (present) return JSON.parse(present) as Secrets;
    const secrets = makeSecrets();
    this.writePrivate('secrets.json', secrets);
    return secrets;
  }

  /** The `demo.json` of the last start, if there is one. */
  demo(): Partial<Demo> | null {
    const text = readText(this.file('demo.json'));
    return text ? (JSON.parse(text) as Partial<Demo>) : null;
  }

  /** Replaces a JSON file in one step, so that a reader never sees half of it; readable by its owner alone. */
  writePrivate(name: string, value: unknown): void {
    const file = this.file(name);
    const part = `${file}.${process.pid}.part`;
    fs.writeFileSync(part, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    fs.renameSync(part, file);
  }
}

function readText(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** True while the process lives and is one of ours (a process number may have been given to another program since). */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const command = readText(`/proc/${pid}/cmdline`);
  return command === null || command.includes('node');
}
