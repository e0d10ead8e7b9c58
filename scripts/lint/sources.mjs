// Reads the sources of a checkout: the files, their imports, and the length of their functions.
import fs from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { parseSync } from '@swc/core';

const SOURCE = /\.(ts|mjs|cjs)$/;
const NOT_SOURCE = new Set(['node_modules', 'dist', 'generated', 'test', 'prisma']);
const FUNCTION =
  /^(Function(Declaration|Expression)|ArrowFunctionExpression|Constructor)$|Method|^(Getter|Setter)Property$/;
const BUILT_IN = new Set(builtinModules);

/** The source files below `folder`, relative to `root`, sorted. Tests, generated files and hidden folders are left out. */
export function sourceFiles(root, folder) {
  const place = path.join(root, folder);
  if (!fs.existsSync(place)) return [];
  return fs
    .readdirSync(place, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !NOT_SOURCE.has(name))
    .flatMap((entry) => {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sourceFiles(root, file);
      return SOURCE.test(file) && !/\.(test|d)\.ts$/.test(file) ? [file] : [];
    })
    .sort();
}

/** Every package, service and deployment: its folder, name, exports, and dependencies at run time. */
export function workspaceMembers(root) {
  return ['packages', 'services', 'deploy']
    .filter((group) => fs.existsSync(path.join(root, group)))
    .flatMap((group) => fs.readdirSync(path.join(root, group)).map((name) => `${group}/${name}`))
    .filter((folder) => fs.existsSync(path.join(root, folder, 'package.json')))
    .map((folder) => {
      const manifest = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
      const { name, exports: entries = {}, dependencies = {} } = manifest;
      return { folder, name, entries, dependencies: Object.keys(dependencies) };
    });
}

/** Whether a folder or file belongs to a package that only tests and benchmarks use: `packages/test-*`. */
export function forTests(place) {
  return place.startsWith('packages/test-');
}

/**
 * Parses the files and resolves their imports: file -> { lines, imports, declares, functions }. An import has `to`, a file of the
 * project, or `external`, the name of a package or `node:` module. `typeOnly` marks imports that compilation removes.
 */
export function readSources(root, files) {
  const members = new Map(workspaceMembers(root).map((member) => [member.name, member]));
  return new Map(
    files.map((file) => {
      const text = fs.readFileSync(path.join(root, file), 'utf8');
      const { imports, ...parsed } = parse(file, text);
      const resolved = imports.map((one) => ({ ...one, ...resolveImport(root, members, file, one.specifier) }));
      return [file, { lines: text.split('\n').length - 1, imports: resolved, ...parsed }];
    }),
  );
}

function resolveImport(root, members, file, specifier) {
  if (specifier.startsWith('.')) {
    const to = path.posix.join(path.posix.dirname(file), specifier);
    const source = to.replace(/\.js$/, '.ts');
    return { to: fs.existsSync(path.join(root, source)) ? source : to };
  }
  const [, name, entry] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier);
  const member = members.get(name);
  if (member) {
    const target = member.entries[`.${entry ?? ''}`];
    const to = target?.development ?? target;
    return typeof to === 'string' ? { to: path.posix.join(member.folder, to) } : { external: specifier };
  }
  if (specifier.startsWith('node:')) return { external: specifier };
  return { external: BUILT_IN.has(specifier) ? `node:${specifier}` : name };
}

function parse(file, text) {
  const imports = [];
  const declares = new Set();
  const functions = [];
  const lineAt = lineNumbers(text);
  const visit = (node, name) => {
    if (Array.isArray(node)) {
      for (const one of node) visit(one, name);
      return;
    }
    if (node === null || typeof node !== 'object') return;
    imports.push(...importsOf(node));
    for (const exported of exportedNames(node)) declares.add(exported);
    const called = nameOf(node) ?? name;
    if (FUNCTION.test(node.type) && node.span) {
      const [first, last] = [lineAt(node.span.start), lineAt(node.span.end - 1)];
      functions.push({ name: called ?? 'callback', named: called !== undefined, line: first, lines: last - first + 1 });
    }
    for (const [key, child] of Object.entries(node)) {
      // Only a function that is assigned directly, as in `const name = () => ...`, has the name of its variable.
      if (key !== 'span') visit(child, key === 'init' || key === 'value' ? nameOf(node) : undefined);
    }
  };
  try {
    const syntax = file.endsWith('.ts') ? 'typescript' : 'ecmascript';
    visit(parseSync(text, { syntax, target: 'es2022' }).body);
  } catch (error) {
    throw new Error(`${file} cannot be parsed: ${error.message ?? error}`);
  }
  return { imports, declares, functions };
}

function nameOf({ type, identifier, key, id }) {
  if (type === 'Constructor') return 'constructor';
  const name = (identifier ?? key ?? id)?.value;
  return typeof name === 'string' ? name : undefined;
}

/** The imports of a node of the syntax tree: the `names` it imports, those that are only `types`, and those it re-exports. */
function importsOf(node) {
  const specifier = (node.source ?? node.moduleRef?.expression ?? node.argument ?? node.arguments?.[0]?.expression)
    ?.value;
  if (typeof specifier !== 'string') return [];
  const found = (names, more = {}) => [
    { specifier, names, types: [], exportedAs: [], typeOnly: Boolean(node.typeOnly), ...more },
  ];
  switch (node.type) {
    case 'ImportDeclaration': {
      const types = node.specifiers.filter(({ isTypeOnly }) => isTypeOnly);
      const names = node.specifiers.length > 0 ? node.specifiers.map(importedName) : ['*'];
      return found(names, { types: types.map(importedName) });
    }
    case 'ExportAllDeclaration':
      return found(['*'], { exportedAs: ['*'] });
    case 'ExportNamedDeclaration': {
      const names = node.specifiers.map(({ orig }) => orig?.value ?? '*');
      return found(names, {
        exportedAs: node.specifiers.map(({ exported, orig, name }) => (exported ?? orig ?? name).value),
      });
    }
    case 'TsImportType':
      return found([node.qualifier?.value ?? '*'], { typeOnly: true });
    case 'CallExpression':
      return node.callee.type === 'Import' ? found(['*']) : [];
    default:
      return [];
  }
}

/** The names that a node exports from the file itself. */
function exportedNames({ type = '', declaration, specifiers, source }) {
  if (type.startsWith('ExportDefault')) return ['default'];
  if (type === 'ExportNamedDeclaration' && !source)
    return specifiers.map(({ exported, orig }) => (exported ?? orig).value);
  if (type !== 'ExportDeclaration') return [];
  if (declaration.type === 'VariableDeclaration') return declaration.declarations.map(({ id }) => id.value);
  return [(declaration.identifier ?? declaration.id).value];
}

function importedName({ type, imported, local }) {
  if (type === 'ImportDefaultSpecifier') return 'default';
  return type === 'ImportNamespaceSpecifier' ? '*' : (imported ?? local).value;
}

/** Finds the line of a position, which the parser counts in bytes from 1. */
function lineNumbers(text) {
  const ends = [];
  const bytes = Buffer.from(text);
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at + 1);
  return (position) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
