import { describe, expect, it } from '@jest/globals';
import { Decimal, sum } from '../src/decimal.js';

const d = Decimal.of;

describe('decimals', () => {
  it.each([
    ['12', '12.00'],
    ['0.5', '0.50'],
    ['.5', '0.50'],
    ['3.', '3.00'],
    ['+7.25', '7.25'],
    ['-7.25', '-7.25'],
    [' \t\r\n1.10 \n', '1.10'],
    ['007', '7.00'],
    ['9999999999999999.99', '9999999999999999.99'],
    ['123456789012345678901234567890.12', '123456789012345678901234567890.12'],
  ])('%j is read as %s', (text, written) => {
    expect(d(text).toFixed(2)).toBe(written);
  });

  it.each(['', ' ', '.', '+', '-', '1,000.00', '1.2.3', '1e3', '0x10', '--1', '1 2', 'NaN', '١', '9'.repeat(61)])(
    '%j is none',
    (text) => {
      expect(Decimal.parse(text)).toBeNull();
    },
  );

  it.each([
    ['2.345', '2.35'],
    ['2.344999', '2.34'],
    ['-2.345', '-2.35'],
    ['-0.004', '0.00'],
    ['0.005', '0.01'],
    ['1.005', '1.01'],
    ['8.5', '8.50'],
  ])('%s rounds half up, away from zero, to %s', (text, written) => {
    expect(d(text).toFixed(2)).toBe(written);
  });

  it('writes whole numbers without a point', () => {
    expect(d('2.5').toFixed(0)).toBe('3');
    expect(d('-0.4').toFixed(0)).toBe('0');
  });

  it('adds, subtracts and compares across scales exactly', () => {
    expect(d('0.1').plus(d('0.2')).equals(d('0.3'))).toBe(true);
    expect(d('1.5').minus(d('2.0001')).toFixed(4)).toBe('-0.5001');
    expect(d('1.10').compare(d('1.1'))).toBe(0);
    expect(d('1.1001').compare(d('1.1'))).toBe(1);
    expect(d('-1').compare(d('0.0'))).toBe(-1);
    expect(sum([d('0.10'), d('0.2'), d('0.003')]).toFixed(3)).toBe('0.303');
    expect(d('-3.10').abs().toFixed(2)).toBe('3.10');
    expect([d('-1').sign(), d('0.00').sign(), d('2').sign()]).toEqual([-1, 0, 1]);
  });

  it('keeps fractions whole until they are rounded', () => {
    expect(d('14825').dividedBy(d('1.18')).minus(d('200')).toFixed(2)).toBe('12363.56');
    expect(d('1').dividedBy(d('3')).times(d('3')).equals(d('1'))).toBe(true);
    expect(d('10').dividedBy(d('-4')).toFixed(2)).toBe('-2.50');
    expect(
      d('1')
        .dividedBy(d('3'))
        .plus(d('1').dividedBy(d('6')))
        .toFixed(2),
    ).toBe('0.50');
  });

  it('refuses to divide by zero and to take a constant that is none', () => {
    expect(() => d('1').dividedBy(d('0.00'))).toThrow(RangeError);
    expect(() => d('one')).toThrow(RangeError);
  });

  it('agrees with integer arithmetic on random operands', () => {
    let seed = 20261121;
    const next = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    for (let round = 0; round < 2000; round++) {
      const [a, b] = [next(10 ** 9), next(10 ** 9)];
      const left = d(`${Math.floor(a / 100)}.${String(a % 100).padStart(2, '0')}`);
      const right = d(`${Math.floor(b / 100)}.${String(b % 100).padStart(2, '0')}`);
      const product = BigInt(a) * BigInt(b);
      const cents = (product + 50n) / 100n;
      const digits = cents.toString().padStart(3, '0');
      expect(left.times(right).toFixed(2)).toBe(`${digits.slice(0, -2)}.${digits.slice(-2)}`);
      expect(left.plus(right).times(Decimal.whole(100)).toFixed(0)).toBe(String(a + b));
    }
  });
});
