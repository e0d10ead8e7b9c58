// Generates the types of the tables from the schema of each service that uses the query builder. Needs no network and no database.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Schemas of all services, relative to the root, sorted. */
export function schemaFiles() {
  return fs
    .readdirSync(path.join(ROOT, 'services'))
    .map((service) => `services/${service}/prisma/schema.prisma`)
    .filter((file) => fs.existsSync(path.join(ROOT, file)))
    .sort();
}

/** Schemas of the services that use the query builder. Other services use their schema for migrations only. */
export function typedSchemaFiles() {
  return schemaFiles().filter((file) => {
    const manifest = path.join(ROOT, path.dirname(path.dirname(file)), 'package.json');
    const { dependencies = {} } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
    return 'kysely' in dependencies;
  });
}

/** Runs `prisma generate` for each schema; throws with Prisma's message if one fails. */
export async function generateTypes(files = typedSchemaFiles()) {
  for (const file of files) await generate(file);
}

function generate(file) {
  const prisma = path.join(ROOT, 'node_modules', 'prisma', 'build', 'index.js');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [prisma, 'generate', '--schema', file], {
      cwd: ROOT,
      // The command requires a schema engine that it never calls here; any existing program satisfies it.
      env: {
        ...process.env,
        // Where the generators are.
        PATH: `${path.join(ROOT, 'node_modules', '.bin')}${path.delimiter}${process.env.PATH}`,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`prisma generate ${file} failed:\n${output}`)),
    );
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await generateTypes();
  for (const file of typedSchemaFiles()) process.stdout.write(`generated from ${file}\n`);
}
