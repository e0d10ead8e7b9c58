import { describe, expect, it } from '@jest/globals';
import { environmentSegment, isEnvironment } from '../src/authority/environment.js';
import { isEcfType } from '../src/identifiers.js';

describe('the types of e-CF', () => {
  it('are ten', () => {
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
