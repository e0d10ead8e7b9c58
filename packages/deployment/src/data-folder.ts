import fs from 'node:fs';
import path from 'node:path';
import { makeBrokerPasswords } from '@ecf/bus/kafka';
import { makeServiceKeys } from '@ecf/http/identity';
import { StartError } from '@ecf/service';
import { lockFolder, RESTORE_FOLDER } from './folder-lock.js';
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
  /** Present if `/admin` has its own listener. */
  admin_url?: string;
  issuer_rnc: string;
  buyer_rnc: string;
  authority_url: string;
  metrics_url: string;
  started_at: string;
  /** Present if services are separate processes. */
  processes?: DemoProcess[];
}

type AllServiceKeys = ReturnType<typeof makeServiceKeys>;

/** The folder that holds everything a deployment keeps: database, documents, secrets, sandbox. */
export class DataFolder {
  readonly path: string;

  /** @throws StartError if it is not a folder, or could not be made */
  constructor(folder: string) {
    this.path = path.resolve(folder);
    let existing = this.path;
    while (!fs.existsSync(existing)) existing = path.dirname(existing);
    if (!fs.statSync(existing).isDirectory())
      throw new StartError(`DATA_DIR ${this.path}: ${existing} is not a folder. Set DATA_DIR to a folder.`);
    try {
      fs.accessSync(existing, fs.constants.W_OK);
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }

  exists(): boolean {
    return fs.existsSync(this.path);
  }

  /** Absolute path of a sub-folder or file. */
  file(...parts: string[]): string {
    return path.join(this.path, ...parts);
  }

  /**
   * Makes the folder if it is missing, and takes it for this process.
   * @throws StartError if another process holds it, which the message names, or a restore into it was interrupted
   */
  async lock(): Promise<() => void> {
    const taken = await this.make().catch((cause) => {
      throw unwritable(this.path, cause);
    });
    if (typeof taken !== 'string') {
      if (!fs.existsSync(this.file(RESTORE_FOLDER))) return taken;
      taken();
      throw new StartError(
        `A restore into the data folder ${this.path} was interrupted, so it is incomplete. Run ecf restore again.`,
      );
    }
    throw new StartError(
      `The data folder ${this.path} is in use by ${taken}. Stop that one, or set DATA_DIR to another folder.`,
    );
  }

  private async make(): Promise<(() => void) | string> {
    makeFolder(this.path);
    return lockFolder(this.path);
  }

  /** The secrets of this folder; null before its first use. */
  presentSecrets(): Secrets | null {
    const present = readText(this.file('secrets.json'));
    return present ? (JSON.parse(present) as Secrets) : null;
  }

  /** The secrets of this folder, made at its first use. */
  secrets(): Secrets {
    const present = this.presentSecrets();
    if (present !== null) return present;
    const secrets = makeSecrets();
    this.writePrivate('secrets.json', secrets);
    return secrets;
  }

  /** The keys of the services of this folder, made at their first use. */
  serviceKeys(): AllServiceKeys {
    return this.madeOnce('service-keys.json', makeServiceKeys);
  }

  /** The passwords at the broker of this folder, by user: one for each service and for `admin`. Made at their first use. */
  brokerPasswords(): Record<string, string> {
    return this.madeOnce('broker-passwords.json', makeBrokerPasswords);
  }

  private madeOnce<T>(name: string, make: () => T): T {
    const present = readText(this.file(name));
    if (present) return JSON.parse(present) as T;
    const made = make();
    this.writePrivate(name, made);
    return made;
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

/** Folder by folder: with `recursive`, mkdirSync never returns below /proc. */
function makeFolder(folder: string): void {
  if (fs.existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  try {
    // Passage for PostgreSQL's user where this process is root. Only the owner writes here.
    fs.mkdirSync(folder, { mode: 0o755 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function unwritable(folder: string, cause: unknown): StartError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StartError(
    `DATA_DIR ${folder} cannot be written: ${reason}. Give this user the right to, or set DATA_DIR to another folder.`,
    { cause },
  );
}

/**
 * Takes the folder once the ports are free; no file is created if a port is in use.
 * @param requirePorts rejects if a port is in use
 * @returns releases the folder
 */
export async function takeFolder(folder: DataFolder, requirePorts: () => Promise<void>): Promise<() => void> {
  if (!folder.exists()) {
    await requirePorts();
    return folder.lock();
  }
  // A deployment that is just ending frees its ports before its folder.
  const release = await folder.lock();
  try {
    await requirePorts();
    return release;
  } catch (error) {
    release();
    throw error;
  }
}
