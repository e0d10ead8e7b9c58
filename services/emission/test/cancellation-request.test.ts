import { cancellationRequestSchema } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { readCancellationRequest } from '../src/cancellation/request.js';
import { EmissionError } from '../src/errors.js';

/** Every field that a request may have. */
const full = () => ({
  version: '1.0',
  issuer_rnc: '199999991',
  total_encf_canceled: 3,
  generation_datetime: '2026-06-15T10:00:05-04:00',
  authority_environment: 'TesteCF',
  cancellation_reason: 'prueba',
  detail_lines: [
    {
      line_number: 1,
      ecf_type: '31',
      total_encf_canceled: 3,
      sequence_ranges: [{ encf_desde: 'E310000000001', encf_hasta: 'E310000000003', quantity_canceled: 3 }],
    },
  ],
});

// biome-ignore lint/suspicious/noExplicitAny: fields of every kind are put in
type Fields = any;
const GROUPS: readonly [string, (body: Fields) => Fields][] = [
  ['request', (body) => body],
  ['line', (body) => body.detail_lines[0]],
  ['range', (body) => body.detail_lines[0].sequence_ranges[0]],
];
/** None is a whole number from 1; the schema does not check whether a count is right. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  2e20,
  199_999_991,
  '',
  ' ',
  '1',
  '3',
  '31',
  31,
  'x',
  'a\u0000b',
  'a\ud800',
  '2026-02-31T10:00:00',
  '2026-06-15 10:00',
  '1999-12-31T23:59:59-04:00',
  'x'.repeat(1_001),
  'TestECF',
  'e310000000001',
  [],
  {},
  ['1'],
  [null],
  Array(11).fill({}),
];
const COUNTS = /total_encf|quantity|line_number/;

const takenBySchema = (text: string) => cancellationRequestSchema.safeParse(JSON.parse(text)).success;
function takenByReader(text: string): boolean {
  try {
    readCancellationRequest(Buffer.from(text));
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(EmissionError);
    return false;
  }
}

describe('the reader of POST /anecf and the schema that describes it', () => {
  const fields = GROUPS.flatMap(([name, of]) => Object.keys(of(full())).map((field) => [name, field, of] as const));

  it.each([...fields, ...GROUPS.map(([name, of]) => [name, 'unheard_of', of] as const)])(
    'take and refuse the same values of %s: %s',
    (_group, field, of) => {
      for (const odd of ODD) {
        if (COUNTS.test(field) && Number.isSafeInteger(odd) && (odd as number) > 0) continue;
        const body = full();
        of(body)[field] = odd;
        const text = JSON.stringify(body);
        expect({ odd, reader: takenByReader(text) }).toEqual({ odd, reader: takenBySchema(text) });
      }
    },
  );

  it('accept a request with every field, and with null for optional fields', () => {
    const bare = full() as Fields;
    for (const [, of] of GROUPS)
      for (const field of Object.keys(of(bare)))
        if (COUNTS.test(field) || /version|generation|reason/.test(field)) of(bare)[field] = null;
    for (const text of [JSON.stringify(full()), JSON.stringify(bare)])
      expect([takenByReader(text), takenBySchema(text)]).toEqual([true, true]);
    expect(readCancellationRequest(Buffer.from(JSON.stringify(bare))).total).toBe(3);
    expect(takenByReader(JSON.stringify(full()).replace('_canceled":3', '_canceled":3.0'))).toBe(true);
  });
});
