import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkJson, examineXml, parseXml, readXml, type SchemaId, xsd } from '@ecf/ecf-xml';
import { afterAll, describe, expect, it } from '@jest/globals';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { chainFault, readTrustedIssuers, securityCode, signatureValueOf, verifyXml } from '../src/index.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const GOLDEN = join(ROOT, 'examples/golden');
const NOW = new Date('2026-11-21T12:00:00Z');
const NAMES = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.xml'))
  .map((file) => file.slice(0, -'.xml'.length));
const golden = (name: string): Buffer => readFileSync(join(GOLDEN, `${name}.xml`));
const example = (name: string) => JSON.parse(readFileSync(join(ROOT, 'examples', `${name}.json`), 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'goldens-'));
afterAll(() => rmSync(folder, { recursive: true }));

const xmlsec = spawnSync('xmlsec1', ['--version']).status === 0;
if (!xmlsec) console.warn('xmlsec1 is not installed: it does not verify the goldens');

describe('the goldens', () => {
  it('and the tampered documents have the bytes that the code writes', () => {
    const { stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/generate/goldens.mjs'), '--check']);
    expect(stderr.toString()).toBe('');
  });

  it('cover the fifteen documents', () => {
    const schemas = NAMES.map((name) => examineXml(parseXml(golden(name)), { now: NOW }).schema);
    expect(new Set(schemas).size).toBe(15);
  });

  it.each(NAMES)('%s verifies, comes from a trusted issuer and has no fault', (name) => {
    const xml = parseXml(golden(name));
    const { signature, canonical, certificate } = verifyXml(xml, NOW);
    expect({ signature, canonical }).toEqual({ signature: 'valid', canonical: 'as-is' });
    const issuers = readTrustedIssuers(readFileSync(join(GOLDEN, 'issuer.pem'), 'utf8'));
    expect(chainFault(certificate!, issuers, NOW, null)).toBeNull();
    expect(examineXml(xml, { now: NOW })).toMatchObject({ faults: [], warnings: [], valid: true });
  });

  it.each(NAMES)('%s has the values of the example', (name) => {
    const tree = readXml(verifyXml(golden(name), NOW).verified!);
    const expected = example(name);
    if (expected.ECF) expected.ECF.FechaHoraFirma = '20-06-2026 10:00:00';
    expect(tree).toEqual(checkJson(expected).tree);
  });

  it.each(NAMES)('%s satisfies its schema by libxml2', (name) => {
    const { schema } = examineXml(parseXml(golden(name)), { now: NOW });
    const definition = XmlDocument.fromString(xsd(schema as SchemaId));
    const validator = XsdValidator.fromDoc(definition);
    const document = XmlDocument.fromBuffer(golden(name));
    try {
      expect(() => validator.validate(document)).not.toThrow();
    } finally {
      for (const used of [document, validator, definition]) used.dispose();
    }
  });

  (xmlsec ? it : it.skip).each(NAMES)('%s verifies with xmlsec1', (name) => {
    const args = ['--verify', '--trusted-pem', join(GOLDEN, 'issuer.pem'), '--enabled-key-data', 'x509'];
    const { status, stderr } = spawnSync('xmlsec1', [...args, join(GOLDEN, `${name}.xml`)]);
    expect([status, stderr.toString().includes('FAIL')]).toEqual([0, false]);
  });

  it('of the summary carries the security code of the full document', () => {
    const full = signatureValueOf(parseXml(golden('ecf-32')))!;
    expect(example('rfce').RFCE.Encabezado.CodigoSeguridadeCF).toBe(securityCode(full));
  });
});
