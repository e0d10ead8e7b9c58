// `npm run pack`: writes a tarball for each package that has a `pack.json` into dist-packages/, ready for `npm publish`.
// With `-- --measure` it also installs each in an empty folder, with its dependencies, and prints their size and the time.
//
// The compiled files of a package and of the `@ecf/*` packages that it imports become a few files in `dist/`, and so do their
// types. Imports of other packages stay: package.json lists these packages with the versions that the workspace pins. `pack.json`:
//
//   name          the name under which it is published
//   exports       entry points: {".": "index", "./check": "check"} are files of dist/, without ending
//   bin           commands: {"ecf": "main"}, likewise
//   processes     files of dist/ that are started by their path, as a process or thread: ["renderer.process"]. The files of the
//                 package are in one folder, so they are started as "./name.js"
//   files         further files and folders of the package, published as they are: ["templates"]
//   dependencies  packages that no import names, such as fonts, or that "inline" leaves out
//   inline        packages from outside whose code and licence are included; "all": every one except those of dependencies
//   absent        packages that are left out; an import of one fails when it runs
//   optionalPeers packages that users install beside it if they need them, in the same version: {"@ecf/x": published name}
//   sideEffects   false if an import that is not used may be left out
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { ROOT, say, setup } from './setup.mjs';

const TARBALLS = path.join(ROOT, 'dist-packages');
const PACKAGES = path.join(ROOT, 'packages');
const NOTHING = {
  exports: {},
  bin: {},
  processes: [],
  files: [],
  dependencies: [],
  inline: [],
  absent: [],
  optionalPeers: {},
};

/** The folders of packages/ that are published. */
export function publishedFolders() {
  const folders = fs.readdirSync(PACKAGES).sort();
  return folders.filter((folder) => fs.existsSync(path.join(PACKAGES, folder, 'pack.json')));
}

/** Packs a folder of packages/ as it is compiled: the published name, its entries, the path of the tarball, sizes in bytes. */
export async function pack(folder, tarballs = TARBALLS) {
  const source = path.join(PACKAGES, folder);
  const description = { ...NOTHING, ...readJson(path.join(source, 'pack.json')) };
  const target = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-pack-'));
  try {
    const { imported, included } = await bundle(source, path.join(target, 'dist'), description);
    for (const file of description.files) {
      fs.cpSync(path.join(source, file), path.join(target, file), { recursive: true });
    }
    fs.copyFileSync(path.join(source, 'README.md'), path.join(target, 'README.md'));
    fs.writeFileSync(path.join(target, 'LICENSE'), licences(included));
    const manifest = manifestOf(source, description, new Set([...imported, ...description.dependencies]));
    fs.writeFileSync(path.join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    const { name, exports } = description;
    return { folder, name, entries: Object.keys(exports), ...(await npmPack(target, tarballs)) };
  } finally {
    fs.rmSync(target, { recursive: true, force: true });
  }
}

/** Bundles code and types. Returns the names of the packages that they import, and the folders of the ones that they include. */
async function bundle(source, dir, { exports, bin, processes, dependencies, inline, absent, optionalPeers }) {
  const inputs = (names, ending) =>
    Object.fromEntries(names.map((name) => [path.basename(name), path.join(source, 'dist', `${name}${ending}`)]));
  const isInline = (id) =>
    id.startsWith('@ecf/') ||
    (inline === 'all' ? !isBuiltin(id) && !dependencies.includes(packageOf(id)) : inline.includes(packageOf(id)));
  const isExternal = (id) => !id.startsWith('.') && !path.isAbsolute(id) && !isInline(id);
  const renamePeers = {
    name: 'rename-peers',
    resolveId: (id) => (optionalPeers[id] ? { id: optionalPeers[id], external: true } : null),
  };
  const leaveOut = {
    name: 'leave-out',
    resolveId: (id) => (absent.includes(id) ? `\0${id}` : null),
    load: (id) =>
      id.startsWith('\0') && absent.includes(id.slice(1)) ? `throw new Error('${id.slice(1)} is not included');` : null,
  };
  // Our modules, and imports of other packages, are included if something of them is used.
  const moduleSideEffects = (id, external) => (external || !id.includes('node_modules') ? false : undefined);
  const options = { cwd: ROOT, external: isExternal, platform: 'node', treeshake: { moduleSideEffects } };

  const code = await rolldown({
    ...options,
    input: inputs([...Object.values(exports), ...Object.values(bin), ...processes], '.js'),
    plugins: [renamePeers, leaveOut],
  });
  const { output: files } = await code.write({ dir, entryFileNames: '[name].js', chunkFileNames: '[name].js' });
  const typeFiles = Object.keys(exports).length === 0 ? [] : await bundleTypes();
  const written = [...files, ...typeFiles];
  // The list of a file has imports that were left out of its code, too.
  const imports = written.flatMap(({ code: text, imports, dynamicImports }) =>
    [...imports, ...dynamicImports].filter((id) => text.includes(`"${id}"`) || text.includes(`'${id}'`)),
  );
  const names = written.map(({ fileName }) => fileName);
  const imported = imports.filter((id) => isExternal(id) && !isBuiltin(id) && !names.includes(id));
  const modules = written.flatMap((file) => Object.keys(file.modules));
  const included = modules.flatMap(
    (file) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0] ?? [],
  );
  return { imported: new Set(imported.map(packageOf)), included: new Set(included) };

  async function bundleTypes() {
    const types = await rolldown({
      ...options,
      input: inputs(Object.values(exports), '.d.ts'),
      plugins: [dts({ dtsInput: true, tsconfig: false, resolver: 'oxc', emitDtsOnly: true, sourcemap: false })],
    });
    const { output } = await types.write({
      dir,
      entryFileNames: '[name].d.ts',
      chunkFileNames: '[name].d.ts',
    });
    return output;
  }
}

function manifestOf(source, { name, exports, bin, files, sideEffects, optionalPeers }, dependencies) {
  const { version, license } = readJson(path.join(ROOT, 'package.json'));
  const { description } = readJson(path.join(source, 'package.json'));
  const entries = Object.entries(exports).map(([entry, file]) => [
    entry,
    { types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` },
  ]);
  const peers = Object.values(optionalPeers);
  const commands = Object.entries(bin).map(([command, file]) => [command, `dist/${file}.js`]);
  return {
    ...{ name, version, description, license, type: 'module' },
    ...(commands.length > 0 && { bin: Object.fromEntries(commands) }),
    ...(entries.length > 0 && { exports: { ...Object.fromEntries(entries), './package.json': './package.json' } }),
    files: ['dist', ...files],
    engines: { node: '>=20.19' },
    ...(sideEffects !== undefined && { sideEffects }),
    dependencies: Object.fromEntries([...dependencies].sort().map((each) => [each, pinnedVersion(each)])),
    ...(peers.length > 0 && {
      peerDependencies: Object.fromEntries(peers.map((each) => [each, version])),
      peerDependenciesMeta: Object.fromEntries(peers.map((each) => [each, { optional: true }])),
    }),
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

/** Our licence, and those of the packages that are included, each text once. */
function licences(folders) {
  const named = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = readJson(path.join(folder, 'package.json'));
    const text = licenceText(folder, license);
    if (text === null) throw new Error(`${name} has no text of its licence; it cannot be included.`);
    named.set(text, [...(named.get(text) ?? []), `${name} ${version}`]);
  }
  const others = [...named].map(([text, names]) => `\n${'-'.repeat(80)}\n${names.join('\n')}\n\n${text}`);
  return fs.readFileSync(path.join(ROOT, 'LICENSE'), 'utf8') + others.join('');
}

/** The licence of a package: its file, a section at the end of its README, or a reference to ours if it has the same. */
function licenceText(folder, license) {
  const files = fs.readdirSync(folder);
  const file = files.find((each) => /^licen[cs]e/i.test(each));
  if (file !== undefined) return fs.readFileSync(path.join(folder, file), 'utf8');
  if (license === 'Apache-2.0') return 'Apache License, Version 2.0, as above.\n';
  const readme = fs.readFileSync(
    path.join(
      folder,
      files.find((each) => /^readme/i.test(each)),
    ),
    'utf8',
  );
  const section = readme.toLowerCase().lastIndexOf('## licen');
  return section < 0 ? null : readme.slice(section);
}

async function npmPack(folder, tarballs) {
  fs.mkdirSync(tarballs, { recursive: true });
  const args = ['pack', '--json', '--pack-destination', tarballs];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, shell: process.platform === 'win32' });
  const { filename, size, unpackedSize } = Object.values(JSON.parse(stdout))[0];
  return { tarball: path.join(tarballs, filename), size, unpackedSize };
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

/** Packs every published package into an empty dist-packages/. */
export async function packAll() {
  fs.rmSync(TARBALLS, { recursive: true, force: true });
  const packed = [];
  for (const folder of publishedFolders()) packed.push(await pack(folder));
  return packed;
}

/** Installs a tarball in an empty folder. Returns the milliseconds of it and the bytes on the disk, with the dependencies. */
function measure(tarball) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-install-'));
  try {
    fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}');
    const start = performance.now();
    execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball], {
      cwd: folder,
      shell: process.platform === 'win32',
    });
    const milliseconds = performance.now() - start;
    const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const sizes = files.map((file) => fs.statSync(path.join(file.parentPath, file.name)).size);
    return { milliseconds, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await setup();
  const kilobytes = (bytes) => `${Math.round(bytes / 1000).toLocaleString('en')} kB`;
  for (const { name, tarball, size, unpackedSize } of await packAll()) {
    const sizes = `${path.relative(ROOT, tarball)}, ${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)}`;
    if (!process.argv.includes('--measure')) say(`${name}: ${sizes}`);
    else {
      const { milliseconds, bytes } = measure(tarball);
      say(`${name}: ${sizes}, installed ${kilobytes(bytes)} in ${(milliseconds / 1000).toFixed(1)} s`);
    }
  }
}
