import { expect, it } from '@jest/globals';
import { integerOf } from '../src/document/document-tree.js';
import { isTransientRefusal, meaningsOf, publicAddress, withoutAccents } from '../src/index.js';

/** A mebibyte of marks, in an order that normalization changes. */
const MARKS = '\u0301\u0323'.repeat(512 * 1024);

it('removes accents, whether they are part of a letter or follow it', () => {
  expect(withoutAccents('Anulaci\u00f3n, nin\u0303o, \u1ec7, x')).toBe('Anulacion, nino, e, x');
});

it('reads a mebibyte of combining marks in linear time wherever texts are compared without accents', () => {
  expect(withoutAccents(`a${MARKS}`)).toBe('a');
  const valor = `Ha${MARKS} ocurrido un error validando en eCF`;
  expect(isTransientRefusal({ status: 'Rechazado', messages: [{ codigo: '2', valor }] })).toBe(true);
  expect(meaningsOf('999999', valor)).toEqual([]);
  const path = Buffer.from(`/fe/${MARKS}`).toString('latin1');
  expect(publicAddress(path)).toEqual({ path: '/fe', prefix: null });
});

it('reads an integer of a mebibyte in linear time', () => {
  const zeros = '0'.repeat(1024 * 1024);
  expect(integerOf({ a: `${zeros}x` }, 'a')).toBe(`${zeros}x`);
  expect(integerOf({ a: ` +${zeros}31\n` }, 'a')).toBe('31');
  expect(integerOf({ a: '000' }, 'a')).toBe('0');
});
