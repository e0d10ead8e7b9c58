import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Prepare, ReferenceSettings } from './server.js';

/** The reference program, running. */
export interface ReferenceProcess {
  url: string;
  pid: number;
  /** Signs documents in advance; resolves when they are ready. */
  prepare(documents: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the reference as a process of its own. */
export async function startReference(settings: ReferenceSettings): Promise<ReferenceProcess> {
  const child = fork(fileURLToPath(new URL('./server.js', import.meta.url)), [], { stdio: 'inherit' });
  child.send(settings);
  const { url } = await message<{ url: string }>(child);
  return {
    url,
    pid: child.pid as number,
    async prepare(documents) {
      child.send({ prepare: documents } satisfies Prepare);
      await message(child);
    },
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`the reference ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (received) => {
      child.off('exit', ended);
      resolve(received as T);
    });
  });
}
