import { describe, expect, it } from '@jest/globals';
import { type NumberedLine, orderLines } from '../src/batches/line-order.js';

const line = (number: number, encf: string | null, refersTo: string | null = null): NumberedLine => ({
  line: number,
  issuerRnc: '101010101',
  encf,
  refersTo,
});
const waits = (line: number, sameLine: number | null, referenceLine: number | null) => ({
  line,
  sameLine,
  referenceLine,
});

describe('the lines of a batch', () => {
  it('wait for an earlier line with the same number, and for the line of the document that they refer to', () => {
    const lines = [line(1, 'N1', 'A'), line(2, 'A'), line(3, 'B'), line(4, null, 'B'), line(5, 'C', 'X')];
    expect(orderLines(lines)).toEqual([waits(1, null, 2), waits(4, null, 3)]);
  });

  it('that refer to a number on two lines wait for the last of these lines', () => {
    expect(orderLines([line(1, 'A'), line(2, 'N', 'A'), line(3, 'A')])).toEqual([waits(3, 1, null), waits(2, null, 3)]);
  });

  it('do not wait for each other in a circle, but a line after a circle waits for it', () => {
    const circle = [line(1, 'A', 'B'), line(2, 'B', 'A')];
    expect(orderLines(circle)).toEqual([]);
    const followers = [line(3, 'C', 'A'), line(4, 'D', 'C'), line(5, 'A')];
    // Line 2 waits for the latest of its number, which is not in the circle.
    expect(orderLines([...circle, ...followers])).toEqual([waits(5, 1, null), waits(3, null, 5), waits(4, null, 3)]);
    expect(orderLines([...circle, line(3, 'C', 'B'), line(4, 'D', 'C')])).toEqual([
      waits(3, null, 2),
      waits(4, null, 3),
    ]);
  });

  it('are ordered in linear time, even if a million of them wait for one line', () => {
    const lines = [line(1, 'A'), ...Array.from({ length: 1_000_000 }, (_, at) => line(at + 2, null, 'A'))];
    expect(orderLines(lines)).toHaveLength(1_000_000);
  });
});
