import { describe, expect, it } from '@jest/globals';
import { Decimal, sum } from '../src/amounts/decimal.js';

const d = Decimal.of;

describe('decimals', () => {
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

  it('agrees with fractions of big integers for operands of any size', () => {
    let seed = 20261122;
    const next = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    const operand = () => {
      const digits = Array.from({ length: 1 + next(18) }, () => (next(3) === 0 ? 9 * next(2) : next(10))).join('');
      const decimals = next(Math.min(digits.length, 6) + 1);
      const text = `${next(2) ? '-' : ''}${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`;
      return { decimal: d(text), fraction: [BigInt(text.replace('.', '')), 10n ** BigInt(decimals)] as const };
    };
    type Operand = ReturnType<typeof operand>;
    const fixed = ([n, of]: readonly [bigint, bigint], decimals: number) => {
      const [top, bottom] = of < 0n ? [-n, -of] : [n, of];
      const whole = ((top < 0n ? -top : top) * 10n ** BigInt(decimals) * 2n + bottom) / (bottom * 2n);
      const digits = whole.toString().padStart(decimals + 1, '0');
      const written = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
      return top < 0n && whole !== 0n ? `-${written}` : written;
    };
    const steps: Record<string, (a: Operand, b: Operand) => Operand> = {
      plus: (a, b) => ({
        decimal: a.decimal.plus(b.decimal),
        fraction: [a.fraction[0] * b.fraction[1] + b.fraction[0] * a.fraction[1], a.fraction[1] * b.fraction[1]],
      }),
      minus: (a, b) => ({
        decimal: a.decimal.minus(b.decimal),
        fraction: [a.fraction[0] * b.fraction[1] - b.fraction[0] * a.fraction[1], a.fraction[1] * b.fraction[1]],
      }),
      times: (a, b) => ({
        decimal: a.decimal.times(b.decimal),
        fraction: [a.fraction[0] * b.fraction[0], a.fraction[1] * b.fraction[1]],
      }),
      dividedBy: (a, b) => {
        const negative = b.fraction[0] < 0n;
        const [top, bottom] = [a.fraction[0] * b.fraction[1], a.fraction[1] * b.fraction[0]];
        return { decimal: a.decimal.dividedBy(b.decimal), fraction: negative ? [-top, -bottom] : [top, bottom] };
      },
    };
    for (let round = 0; round < 600; round++) {
      let value = operand();
      for (let step = 0; step < 4; step++) {
        const other = operand();
        const names = Object.keys(steps).filter((name) => name !== 'dividedBy' || !other.decimal.isZero());
        value = steps[names[next(names.length)]!]!(value, other);
        const [a, b] = [value.fraction[0] * other.fraction[1], other.fraction[0] * value.fraction[1]];
        const decimals = next(7);
        expect([
          value.decimal.toFixed(decimals),
          value.decimal.round(2).toFixed(4),
          value.decimal.abs().toFixed(2),
          value.decimal.compare(other.decimal),
          value.decimal.sign(),
        ]).toEqual([
          fixed(value.fraction, decimals),
          `${fixed(value.fraction, 2)}00`,
          fixed(value.fraction, 2).replace('-', ''),
          a < b ? -1 : a > b ? 1 : 0,
          value.fraction[0] > 0n ? 1 : value.fraction[0] < 0n ? -1 : 0,
        ]);
      }
    }
  });
});
