import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Fault } from '@ecf/domain';
import { examineXml, parseXml } from '@ecf/ecf-xml';
import { describe, expect, it } from '@jest/globals';
import { verifyXml } from '../src/index.js';

const TAMPERED = fileURLToPath(new URL('../../../examples/tampered/', import.meta.url));

interface Expected {
  defect: string;
  /** `valid`, or the code of the signature's fault. */
  signature: string;
  form?: string;
  faults?: { rule: string; path: string }[];
  warnings?: { rule: string; path: string }[];
}

const { now, documents } = JSON.parse(readFileSync(`${TAMPERED}expected.json`, 'utf8')) as {
  now: string;
  documents: Record<string, Expected>;
};
const NOW = new Date(now);

const rulesAndPaths = (faults: readonly Fault[]) => faults.map(({ rule, path }) => ({ rule, path }));

describe('tampered documents', () => {
  it('each have an expected result', () => {
    const files = readdirSync(TAMPERED).filter((file) => file.endsWith('.xml'));
    expect(files.sort()).toEqual(
      Object.keys(documents)
        .map((name) => `${name}.xml`)
        .sort(),
    );
  });

  it.each(Object.entries(documents))('%s', (name, { signature, form, faults, warnings }) => {
    const bytes = readFileSync(`${TAMPERED}${name}.xml`);
    const verification = verifyXml(bytes, NOW);
    expect(verification.reason?.code ?? verification.signature).toBe(signature);
    if (signature !== 'valid') {
      expect(verification).toMatchObject({ signature: 'invalid', verified: null, certificate: null });
      return;
    }
    expect(verification.canonical).toBe(form);
    const examined = examineXml(parseXml(bytes), { now: NOW });
    expect(rulesAndPaths(examined.faults)).toEqual(faults);
    expect(rulesAndPaths(examined.warnings)).toEqual(warnings);
  });
});
