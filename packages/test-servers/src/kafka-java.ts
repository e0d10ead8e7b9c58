import { execFile, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  type BrokerAccess,
  brokerReady,
  cacheFolder,
  freePort,
  javaBrokerCommand,
  once,
  prepareJavaBroker,
  type SecureListener,
} from '@ecf/deployment/servers';

const run = promisify(execFile);

/** Password of keys and a user that exist only on the machine of a test. */
const KEYS_PASSWORD = 'only-for-tests';

/** A broker with its own folder. */
export interface JavaBroker {
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
}

/** Makes a data folder and starts a broker on it, on a free port of 127.0.0.1. */
export async function startJavaBroker(access: BrokerAccess = {}): Promise<JavaBroker> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-test-kafka-data-'));
  const port = await freePort(...(access.secure ? [access.secure.port] : []));
  await prepareJavaBroker(folder, port, access);
  return runJavaBroker(folder, port);
}

/** A certificate for a broker on 127.0.0.1 and a user; Java's own tool makes it, once. */
export async function secureListener(): Promise<SecureListener> {
  const keys = await once(path.join(cacheFolder(), 'kafka-keys'), makeKeys);
  const login = { username: 'test', password: KEYS_PASSWORD };
  return { port: await freePort(), caFile: path.join(keys, 'broker.pem'), ...login };
}

async function makeKeys(folder: string): Promise<void> {
  mkdirSync(folder);
  const store = ['-keystore', path.join(folder, 'broker.p12'), '-storepass', KEYS_PASSWORD, '-alias', 'broker'];
  const subject = ['-dname', 'CN=localhost', '-ext', 'SAN=ip:127.0.0.1,dns:localhost', '-validity', '36500'];
  await run('keytool', ['-genkeypair', '-keyalg', 'RSA', '-storetype', 'PKCS12', ...subject, ...store]);
  await run('keytool', ['-exportcert', '-rfc', '-file', path.join(folder, 'broker.pem'), ...store]);
}

/** Starts a broker on a prepared folder, also on the data of a killed one. */
export async function runJavaBroker(folder: string, port: number): Promise<JavaBroker> {
  const log = openSync(path.join(folder, 'broker.log'), 'a');
  const [program, args] = javaBrokerCommand(folder);
  const broker = spawn(program, args, { detached: true, stdio: ['ignore', log, log] });
  broker.unref();
  closeSync(log);
  await brokerReady(broker, folder, port);
  return { port, folder, pid: broker.pid as number };
}
