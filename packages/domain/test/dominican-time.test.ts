import { describe, expect, it } from '@jest/globals';
import {
  daysBetween,
  dominicanDays,
  formatDocumentDate,
  formatSignatureDateTime,
  formatSortableDateTime,
  parseDocumentDate,
  parseSignatureDateTime,
  toCalendarDate,
  toIsoDominican,
} from '../src/time/dominican-time.js';

describe('Dominican time', () => {
  const night = new Date('2026-06-24T03:59:59.900Z');
  const noon = new Date('2026-01-05T16:00:00Z');

  it('is four hours behind UTC all year, in 24 hours', () => {
    expect(formatSignatureDateTime(night)).toBe('23-06-2026 23:59:59');
    expect(formatSignatureDateTime(noon)).toBe('05-01-2026 12:00:00');
    expect(formatSignatureDateTime(new Date('2026-01-05T04:00:00Z'))).toBe('05-01-2026 00:00:00');
    expect(formatSortableDateTime(night)).toBe('2026-06-23 23:59:59');
    expect(toIsoDominican(night)).toBe('2026-06-23T23:59:59-04:00');
    expect(toCalendarDate(night)).toBe('2026-06-23');
  });

  it('reads back what it writes', () => {
    expect(parseSignatureDateTime('23-06-2026 23:59:59')?.toISOString()).toBe('2026-06-24T03:59:59.000Z');
    expect(parseSignatureDateTime(formatSignatureDateTime(noon))).toEqual(noon);
    expect(formatDocumentDate('2026-06-23')).toBe('23-06-2026');
  });

  it.each([
    ['29-02-2024', '2024-02-29'],
    ['29-02-2026', null],
    ['29-02-1900', null],
    ['29-02-2000', '2000-02-29'],
    ['31-04-2026', null],
    ['31-12-2026', '2026-12-31'],
    ['00-01-2026', null],
    ['01-13-2026', null],
    ['1-6-2026', '2026-06-01'],
    [' 01-06-2026 ', '2026-06-01'],
    ['2026-06-01', null],
    ['01/06/2026', null],
    ['ab-cd-2026', null],
    ['01-06-20x6', null],
    ['01-06-0026', null],
    ['', null],
  ])('the day %j is %s', (text, date) => {
    expect(parseDocumentDate(text)).toBe(date);
  });

  it.each([
    '31-12-9999 20:00:00',
    '31-12-9999  23:59:59',
    '24-06-2026 24:00:00',
    '24-06-2026 12:60:00',
    '31-06-2026 12:00:00',
    '24-06-2026',
    'x',
  ])('the time %j is none', (text) => {
    expect(parseSignatureDateTime(text)).toBeNull();
  });

  it('counts calendar days', () => {
    expect(daysBetween('2026-06-15', '2026-07-15')).toBe(30);
    expect(daysBetween('2024-02-28', '2024-03-01')).toBe(2);
    expect(daysBetween('2026-01-01', '2025-12-31')).toBe(-1);
  });

  it('turns inclusive days into instants', () => {
    const { from, until } = dominicanDays('2026-12-31', '2026-12-31');
    expect([from.toISOString(), until.toISOString()]).toEqual(['2026-12-31T04:00:00.000Z', '2027-01-01T04:00:00.000Z']);
  });
});
