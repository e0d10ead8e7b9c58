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
  it('wait for the same number before them, and for the document that they refer to, wherever it stands', () => {
    const lines = [line(1, 'N1', 'A'), line(2, 'A'), line(3, 'B'), line(4, null, 'B'), line(5, 'C', 'X')];
    expect(orderLines(lines)).toEqual([waits(1, null, 2), waits(4, null, 3)]);
  });

  it('that refer to a number that stands there twice wait for the last of them', () => {
    expect(orderLines([line(1, 'A'), line(2, 'N', 'A'), line(3, 'A')])).toEqual([waits(3, 1, null), waits(2, null, 3)]);
  });

  it('in a circle do not wait for each other; a line that follows a circle waits', () => {
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

  it('wait for one line, and are ordered in linear time, though a million of them refer to it', () => {
    const lines = [line(1, 'A'), ...Array.from({ length: 1_000_000 }, (_, at) => line(at + 2, null, 'A'))];
    expect(orderLines(lines)).toHaveLength(1_000_000);
  }, 60_000);
});
