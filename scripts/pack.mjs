// `npm run pack`: writes a tarball for each package that has a `pack.json` into dist-packages/, ready for `npm publish`.
// Arguments are names of folders in packages/; without any, all are packed.
//
// The compiled files of a package and of the `@ecf/*` packages that it imports become a few files in `dist/`, and so do their
// types. Imports of other packages stay: package.json lists these packages with the versions that the workspace pins. `pack.json`:
//
//   name          the name under which it is published
//   exports       entry points: {".": "index", "./check": "check"} are files of dist/, without ending
//   bin           commands: {"ecf": "main"}, likewise
//   processes     files of dist/ that are started by their path, as a process or thread: ["renderer.process"]
//   files         further files and folders of the package, published as they are: ["templates"]
//   dependencies  packages that no import names, such as fonts
//   inline        packages from outside whose code and licence are included
//   sideEffects   false if an import that is not used may be left out
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { ROOT, say, setup } from './setup.mjs';

const TARBALLS = path.join(ROOT, 'dist-packages');
const PACKAGES = path.join(ROOT, 'packages');
const NOTHING = { exports: {}, bin: {}, processes: [], files: [], dependencies: [], inline: [] };

/** The folders of packages/ that are published. */
export function publishedFolders() {
  const folders = fs.readdirSync(PACKAGES).sort();
  return folders.filter((folder) => fs.existsSync(path.join(PACKAGES, folder, 'pack.json')));
}

/** Packs a folder of packages/ as it is compiled. Returns the published name, the path of the tarball, and its sizes in bytes. */
export async function pack(folder) {
  const source = path.join(PACKAGES, folder);
  const description = { ...NOTHING, ...readJson(path.join(source, 'pack.json')) };
  const target = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-pack-'));
  try {
    const imported = await bundle(source, path.join(target, 'dist'), description);
    for (const file of description.files) {
      fs.cpSync(path.join(source, file), path.join(target, file), { recursive: true });
    }
    fs.copyFileSync(path.join(source, 'README.md'), path.join(target, 'README.md'));
    fs.writeFileSync(path.join(target, 'LICENSE'), licences(source, description.inline));
    const manifest = manifestOf(source, description, new Set([...imported, ...description.dependencies]));
    fs.writeFileSync(path.join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    return { name: description.name, ...(await npmPack(target)) };
  } finally {
    fs.rmSync(target, { recursive: true, force: true });
  }
}

/** Bundles code and types. Returns the names of the packages that they import. */
async function bundle(source, dir, { exports, bin, processes, inline }) {
  const inputs = (names, ending) =>
    Object.fromEntries(names.map((name) => [name, path.join(source, 'dist', `${name}${ending}`)]));
  const isExternal = (id) =>
    !id.startsWith('.') && !path.isAbsolute(id) && !id.startsWith('@ecf/') && !inline.includes(packageOf(id));
  // A module is included if something of it is used.
  const options = { cwd: ROOT, external: isExternal, platform: 'node', treeshake: { moduleSideEffects: false } };

  const code = await rolldown({
    ...options,
    input: inputs([...Object.values(exports), ...Object.values(bin), ...processes], '.js'),
  });
  const { output: files } = await code.write({ dir, entryFileNames: '[name].js', chunkFileNames: '[name].js' });
  const types = await rolldown({
    ...options,
    input: inputs(Object.values(exports), '.d.ts'),
    plugins: [dts({ dtsInput: true, tsconfig: false, resolver: 'oxc', emitDtsOnly: true, sourcemap: false })],
  });
  const { output: typeFiles } = await types.write({
    dir,
    entryFileNames: '[name].d.ts',
    chunkFileNames: '[name].d.ts',
  });
  const imports = [...files, ...typeFiles].flatMap((file) => [...file.imports, ...file.dynamicImports]);
  return new Set(imports.filter((id) => isExternal(id) && !isBuiltin(id) && !/\.d\.ts$|\.js$/.test(id)).map(packageOf));
}

function manifestOf(source, { name, exports, bin, files, sideEffects }, dependencies) {
  const { version, license } = readJson(path.join(ROOT, 'package.json'));
  const { description } = readJson(path.join(source, 'package.json'));
  const entries = Object.entries(exports).map(([entry, file]) => [
    entry,
    { types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` },
  ]);
  const commands = Object.entries(bin).map(([command, file]) => [command, `dist/${file}.js`]);
  return {
    ...{ name, version, description, license, type: 'module' },
    ...(commands.length > 0 && { bin: Object.fromEntries(commands) }),
    ...(entries.length > 0 && { exports: { ...Object.fromEntries(entries), './package.json': './package.json' } }),
    files: ['dist', ...files],
    engines: { node: '>=20.19' },
    ...(sideEffects !== undefined && { sideEffects }),
    dependencies: Object.fromEntries([...dependencies].sort().map((each) => [each, pinnedVersion(each)])),
  };
}

/** The version of a package from outside that the packages of the workspace depend on. */
function pinnedVersion(name) {
  const manifests = fs.readdirSync(PACKAGES).map((folder) => readJson(path.join(PACKAGES, folder, 'package.json')));
  const versions = new Set(manifests.flatMap(({ dependencies }) => dependencies?.[name] ?? []));
  if (versions.size !== 1)
    throw new Error(`${name} has ${versions.size} versions in packages/*/package.json; pin one.`);
  return [...versions][0];
}

/** Our licence, and those of the packages that are included. */
function licences(source, inline) {
  const require = createRequire(path.join(source, 'package.json'));
  const others = inline.map((name) => {
    const folder = path.dirname(require.resolve(`${name}/package.json`));
    const file = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no file with its licence; it cannot be included.`);
    return `\n${'-'.repeat(80)}\n${name}\n\n${fs.readFileSync(path.join(folder, file), 'utf8')}`;
  });
  return fs.readFileSync(path.join(ROOT, 'LICENSE'), 'utf8') + others.join('');
}

async function npmPack(folder) {
  fs.mkdirSync(TARBALLS, { recursive: true });
  const args = ['pack', '--json', '--pack-destination', TARBALLS];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, shell: process.platform === 'win32' });
  const { filename, size, unpackedSize } = Object.values(JSON.parse(stdout))[0];
  return { tarball: path.join(TARBALLS, filename), size, unpackedSize };
}

/** `@scope/name` of `@scope/name/file`. */
function packageOf(id) {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await setup();
  const named = process.argv.slice(2);
  for (const folder of named.length > 0 ? named : publishedFolders()) {
    const { name, tarball, size, unpackedSize } = await pack(folder);
    const kilobytes = (bytes) => `${Math.round(bytes / 1000)} kB`;
    say(`${name}: ${path.relative(ROOT, tarball)}, ${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)}`);
  }
}
