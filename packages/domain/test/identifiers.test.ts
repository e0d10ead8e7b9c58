import { describe, expect, it } from '@jest/globals';
import { environmentSegment, isEnvironment } from '../src/authority/environment.js';
import { encfSequence, encfType, hasCheckDigit, isEcfType, isEncf, isRnc } from '../src/identifiers.js';

describe('RNC and cédula', () => {
  it.each(['131880681', '133470616', '131880738', '101672919', '533445861', '00199999996', '40220012856'])(
    '%s has its check digit',
    (rnc) => {
      expect(hasCheckDigit(rnc)).toBe(true);
    },
  );

  it.each(['131880600', '132880600', '131880682', '00199999997', '13188068', '13188068A', ''])('%s has not', (rnc) => {
    expect(hasCheckDigit(rnc)).toBe(false);
  });

  it('are nine or eleven digits', () => {
    expect(['131880681', '00199999996'].every(isRnc)).toBe(true);
    expect(['1318806810', '131-88068', ' 131880681', '131880681\n', ''].some(isRnc)).toBe(false);
  });
});

describe('eNCF', () => {
  it('is E and twelve digits', () => {
    expect(isEncf('E310000000001')).toBe(true);
    for (const text of [
      'e310000000001',
      'E31000000001',
      'E3100000000011',
      'B310000000001',
      'E31000000000A',
      'E310000000001\n',
    ]) {
      expect(isEncf(text)).toBe(false);
    }
  });

  it('tells its type and sequence', () => {
    expect(encfType('E470000000012')).toBe('47');
    expect(encfSequence('E479999999999')).toBe(9_999_999_999);
    expect(encfType('E420000000001')).toBeNull();
    expect(encfType('x')).toBeNull();
    expect(encfSequence('x')).toBeNull();
  });

  it('knows ten types', () => {
    expect(isEcfType('31')).toBe(true);
    expect(isEcfType(31)).toBe(false);
    expect(isEcfType('35')).toBe(false);
  });
});

describe('environments', () => {
  it('are three words with their segments', () => {
    expect(isEnvironment('eCF')).toBe(true);
    expect(isEnvironment('ECF')).toBe(false);
    expect((['TesteCF', 'CerteCF', 'eCF'] as const).map(environmentSegment)).toEqual(['testecf', 'certecf', 'ecf']);
  });
});
