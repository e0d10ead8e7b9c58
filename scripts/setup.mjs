// Makes a checkout runnable with nothing but Node and npm: the pinned package manager, the dependencies of the lockfile, the
// generated database clients, the compiled output. A step is skipped if none of its inputs has changed, so a second run takes about
// a second.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const STAMP = path.join(ROOT, 'node_modules', '.ecf-setup.json');
/** Compiled last. */
const COMPILED = path.join(ROOT, 'deploy', 'standalone', 'dist');
const NODE_RANGES = [
  [20, 19],
  [22, 0],
  [24, 0],
];

/** Prints one progress line on standard error; standard output stays free for results. */
export function say(text) {
  process.stderr.write(`» ${text}\n`);
}

/** Ends the process with a message that names the remedy. */
export function fail(reason, remedy) {
  process.stderr.write(`\n✗ ${reason}\n${remedy ? `  ${remedy}\n` : ''}`);
  process.exit(1);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const supported = NODE_RANGES.some(([m, least]) => major === m && minor >= least) || major > 24;
  if (!supported) {
    fail(
      `Node ${process.versions.node} is not supported.`,
      'Install Node 20.19 or newer in the 20 line, Node 22, or Node 24.',
    );
  }
}

/** Runs a program; resolves with its output, or ends the process with the name of the failed step. */
function run(what, command, args, { env = {}, show = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', show ? 2 : 'pipe', show ? 2 : 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', (error) => fail(`${what}: ${command} could not be started (${error.message}).`));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(output);
      else
        fail(`${what} failed (${signal ?? `exit code ${code}`}).`, output.trim().split('\n').slice(-25).join('\n  '));
    });
  });
}

function digest(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(fs.readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}

function readStamp() {
  try {
    return JSON.parse(fs.readFileSync(STAMP, 'utf8'));
  } catch {
    return {};
  }
}

function manifests() {
  const folders = ['packages', 'services', 'deploy'].flatMap((top) =>
    fs.existsSync(path.join(ROOT, top)) ? fs.readdirSync(path.join(ROOT, top)).map((name) => `${top}/${name}`) : [],
  );
  return ['.', 'bench', 'site', 'test-e2e', ...folders]
    .map((folder) => path.posix.join(folder, 'package.json'))
    .filter((file) => fs.existsSync(path.join(ROOT, file)));
}

/**
 * The package manager: installed by npm without install scripts, from a lockfile that has the hashes of it and of its
 * program for Linux. Elsewhere it comes by its version alone.
 */
export async function pnpm() {
  const tools = path.join(ROOT, '.tools');
  const pinned = path.join(ROOT, 'scripts', 'package-manager');
  const { pnpm: version } = readJson(path.join(pinned, 'package.json')).dependencies;
  const installed = path.join(tools, 'node_modules', 'pnpm', 'package.json');
  if (!fs.existsSync(installed) || readJson(installed).version !== version) {
    const program = `node_modules/@pnpm/exe.${platform()}`;
    const hasHash = program in readJson(path.join(pinned, 'package-lock.json')).packages;
    say(`installing the package manager (pnpm ${version}, into .tools${hasHash ? '' : '; no hash for this system'})`);
    fs.mkdirSync(tools, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) {
      fs.copyFileSync(path.join(pinned, file), path.join(tools, file));
    }
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', ...(hasHash ? [] : ['--no-package-lock'])];
    await run('Installing pnpm', 'npm', ['install', '--prefix', '.tools', ...quiet]);
    // npm leaves out an optional package whose hash is wrong, and pnpm would then fetch the program without a hash.
    if (!fs.existsSync(path.join(tools, program, 'package.json'))) {
      fs.rmSync(path.join(tools, 'node_modules'), { recursive: true, force: true });
      fail(`The program of pnpm for ${platform()} was not installed, or its hash is not that of package-lock.json.`);
    }
  }
  return path.join(tools, 'node_modules', '.bin', 'pnpm');
}

/** The system as packages of programs name it: `linux-x64`, `linux-x64-musl`, `darwin-arm64`. */
function platform() {
  const musl = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
  return `${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

/** Makes the checkout runnable. Returns when everything is installed, generated and compiled. */
export async function setup() {
  requireNode();
  const stamp = readStamp();
  const dependencies = digest(['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()]);
  if (stamp.dependencies !== dependencies) {
    const binary = await pnpm();
    say('installing dependencies from the lockfile');
    await run('Installing dependencies', binary, ['install', '--frozen-lockfile'], { env: { CI: 'true' } });
    fs.writeFileSync(STAMP, JSON.stringify({ dependencies }));
  }
  const { typedSchemaFiles, generateTypes } = await import('./prisma-generate.mjs');
  const schemas = digest(typedSchemaFiles());
  if (stamp.dependencies !== dependencies || stamp.schemas !== schemas) {
    say('generating the types of the tables');
    await generateTypes();
    fs.writeFileSync(STAMP, JSON.stringify({ dependencies, schemas }));
  }
  if (!fs.existsSync(COMPILED)) say('compiling (once; afterwards only what changed)');
  await run('Compiling', process.execPath, [path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-b']);
  await buildConsole();
}

/** Packages whose code the console contains. */
const BUNDLED = ['client', 'csv-invoices', 'domain', 'ecf-xml', 'engine', 'kit'];

/** Bundles the web application of the console. */
async function buildConsole() {
  const folder = path.join(ROOT, 'packages', 'console');
  const stamp = path.join(folder, 'dist', 'sources');
  const sources = digest(['console', ...BUNDLED].flatMap((name) => sourcesOf(path.join(ROOT, 'packages', name))));
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === sources) return;
  say('building the console');
  await run('Building the console', process.execPath, [
    path.join(folder, 'node_modules', 'vite', 'bin', 'vite.js'),
    'build',
    folder,
  ]);
  fs.writeFileSync(stamp, sources);
}

/**
 * The files of a package without its tests and what is made from them, relative to the root. Node's own recursive reading follows
 * the links of node_modules in Node 24, which have circles.
 */
function sourcesOf(folder) {
  const entries = fs.readdirSync(folder, { withFileTypes: true });
  const files = entries.flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist|test)$/.test(entry.name) ? [] : sourcesOf(file);
    return entry.isFile() ? [path.relative(ROOT, file)] : [];
  });
  return files.sort();
}

const ENDING = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/**
 * Runs a program of the checkout in the foreground. Resolves with its exit code, or 128 and the number of the signal that ended it.
 * Signals to this process end the program instead, and this process continues with its code.
 */
export function runTool(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'inherit' });
    const pass = (signal) => child.kill(signal);
    for (const signal of ENDING) process.on(signal, pass);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const one of ENDING) process.off(one, pass);
      resolve(signal ? 128 + os.constants.signals[signal] : (code ?? 1));
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await setup();
  say('ready: dependencies installed, types generated, everything compiled');
}
