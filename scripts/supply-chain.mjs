// `npm run sbom|licences|audit`: reports the components of the product, by commands of the package manager:
//   sbom      writes dist/sbom.cdx.json, a bill of materials (CycloneDX) of everything that is installed to run
//   licences  lists the licences of these packages; fails on one that is not allowed
//   audit     queries the registry for known vulnerabilities; fails on one that is high or critical
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { isAllowedLicence } from './licence-rule.mjs';
import { fail, pnpm, ROOT, say } from './setup.mjs';

const COMMANDS = { sbom, licences, audit };

const command = COMMANDS[process.argv[2]];
if (command === undefined) fail(`Name one of ${Object.keys(COMMANDS).join(', ')}.`);
const binary = await pnpm();
command();

function runPnpm(...args) {
  const { status, stdout, stderr } = spawnSync(binary, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout, stderr };
}

function sbom() {
  const file = path.join(ROOT, 'dist', 'sbom.cdx.json');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const format = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { status, stderr } = runPnpm('sbom', ...format, '--prod', '--out', file);
  if (status !== 0) fail('The bill of materials was not written.', stderr.trim());
  const { components, specVersion } = JSON.parse(fs.readFileSync(file, 'utf8'));
  say(`dist/sbom.cdx.json: CycloneDX ${specVersion}, ${components.length} components`);
}

function licences() {
  const { status, stdout, stderr } = runPnpm('--recursive', 'licenses', 'list', '--prod', '--json');
  if (status !== 0) fail('The licences could not be listed.', stderr.trim());
  const found = Object.entries(JSON.parse(stdout)).sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [licence, packages] of found) process.stdout.write(`${String(packages.length).padStart(5)}  ${licence}\n`);
  const refused = found.filter(([licence]) => !isAllowedLicence(licence));
  if (refused.length === 0) return;
  const named = refused.map(([licence, packages]) => `${licence}: ${packages.map(({ name }) => name).join(', ')}`);
  fail('Packages have licences that are not allowed.', named.join('\n  '));
}

function audit() {
  const { status, stdout, stderr } = runPnpm('audit', '--prod', '--audit-level', 'high', '--json');
  if (!isReport(stdout)) {
    say(`known vulnerabilities were NOT checked, the registry did not answer: ${stderr.replace(/\s+/g, ' ').trim()}`);
    return;
  }
  if (status === 0) {
    say('known vulnerabilities: none that is high or critical');
    return;
  }
  process.stdout.write(stdout);
  fail('Packages have known vulnerabilities that are high or critical.', 'Update them, or override their version.');
}

function isReport(text) {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
