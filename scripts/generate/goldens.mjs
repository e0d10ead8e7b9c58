// Writes examples/golden (every example, signed) and examples/tampered (copies with one defect each); with --check, names the
// files that differ. Key, certificate and signing time are fixed, so the same code writes the same bytes.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';
import { tampered } from './tampered.mjs';

const EXAMPLES = path.join(ROOT, 'examples');
const SIGNING_TIME = '20-06-2026 10:00:00';

const load = (file) => import(pathToFileURL(path.join(ROOT, 'packages', file)).href);
const { checkJson, parseJson, writeXml } = await load('ecf-xml/dist/index.js');
const { signXml } = await load('xml-signing/dist/index.js');
const { signingCertificate } = await load('xml-signing/dist/certificates/signing-certificate.js');

const pem = (name) => fs.readFileSync(path.join(EXAMPLES, 'golden', name));
const issuer = new X509Certificate(pem('issuer.pem')).raw.toString('base64');
const signer = signingCertificate(createPrivateKey(pem('signer-key.pem')), new X509Certificate(pem('signer.pem')), []);

/** The unsigned XML of an example, with the signing time where the document states one. */
function written(name) {
  const { tree } = checkJson(parseJson(fs.readFileSync(path.join(EXAMPLES, `${name}.json`))));
  if (tree.ECF) tree.ECF.FechaHoraFirma = SIGNING_TIME;
  return writeXml(tree);
}

/** Signs the XML of an example after a change in its text. */
async function signed(name, change = (xml) => xml) {
  const { canonical, output } = written(name);
  return (await signXml({ canonical: change(canonical), output: change(output) }, signer)).xml;
}

const names = fs
  .readdirSync(EXAMPLES)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length));
const files = new Map();
for (const name of names) files.set(`golden/${name}.xml`, Buffer.from(await signed(name)));
for (const [name, bytes] of await tampered({ signed, issuer })) files.set(`tampered/${name}.xml`, bytes);

const stale = [...files].filter(([file, bytes]) => {
  const target = path.join(EXAMPLES, file);
  return !fs.existsSync(target) || !fs.readFileSync(target).equals(bytes);
});
const left = ['golden', 'tampered']
  .flatMap((folder) => fs.readdirSync(path.join(EXAMPLES, folder)).map((file) => `${folder}/${file}`))
  .filter((file) => file.endsWith('.xml') && !files.has(file));
if (!process.argv.includes('--check')) {
  for (const [file, bytes] of stale) fs.writeFileSync(path.join(EXAMPLES, file), bytes);
  for (const file of left) fs.rmSync(path.join(EXAMPLES, file));
} else if (stale.length + left.length > 0) {
  for (const [file] of stale) process.stderr.write(`examples/${file} has other bytes than the code writes\n`);
  for (const file of left) process.stderr.write(`examples/${file} belongs to no example\n`);
  process.stderr.write('If the change is intended: npm run generate -- --goldens\n');
  process.exitCode = 1;
}
