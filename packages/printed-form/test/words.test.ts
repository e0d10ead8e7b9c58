import { expect, it } from '@jest/globals';
import { ADDITIONAL_TAXES, PROVINCES_AND_MUNICIPALITIES, UNITS } from '../../ecf-xml/src/catalogue/code-lists.js';
import { PLACES } from '../src/places.js';
import { taxName, unitName } from '../src/words.js';

it('Every place of the catalogue has a name, and no other code has one.', () => {
  expect([...PLACES.keys()].sort()).toEqual([...PROVINCES_AND_MUNICIPALITIES].sort());
  expect([...PLACES.values()].filter((name) => name.trim() === '')).toEqual([]);
});

it('Every unit of the catalogue has its own name, and another code is printed as it is.', () => {
  expect(UNITS.filter((code) => unitName(code) === code)).toEqual([]);
  expect(new Set(UNITS.map(unitName)).size).toBe(UNITS.length);
  expect(unitName(String(UNITS.length + 1))).toBe('63');
});

it('Every additional tax of the catalogue has its own name, and another code is printed as it is.', () => {
  expect(ADDITIONAL_TAXES.filter((code) => taxName(code) === code)).toEqual([]);
  expect(new Set(ADDITIONAL_TAXES.map(taxName)).size).toBe(ADDITIONAL_TAXES.length);
  expect(taxName('040')).toBe('040');
});
