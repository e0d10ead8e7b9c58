import { describe, expect, it } from '@jest/globals';
import { readCancellationRequest } from '../src/cancellation/cancellation-document.js';

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

const read = (body: object) => readCancellationRequest(Buffer.from(JSON.stringify(body)));

type Line = ReturnType<typeof full>['detail_lines'][number];

describe('a request of POST /anecf', () => {
  it('may leave the counts, the version, the time and the reason out, or set them to null', () => {
    const { line_number, total_encf_canceled, ...line } = full().detail_lines[0] as Line;
    const { quantity_canceled, ...range } = line.sequence_ranges[0] as Line['sequence_ranges'][number];
    const { issuer_rnc, authority_environment } = full();
    const bare = { issuer_rnc, authority_environment, detail_lines: [{ ...line, sequence_ranges: [range] }] };
    const nulls = {
      ...full(),
      ...{ version: null, total_encf_canceled: null, generation_datetime: null, cancellation_reason: null },
      detail_lines: [
        {
          ...line,
          ...{ line_number: null, total_encf_canceled: null },
          sequence_ranges: [{ ...range, quantity_canceled: null }],
        },
      ],
    };
    expect(read(bare)).toMatchObject({ version: '1.0', total: 3, generatedAt: null, reason: null });
    expect(read(nulls)).toEqual(read(bare));
    expect(read(full())).toMatchObject({ total: 3, lines: read(bare).lines, reason: 'prueba' });
  });

  it('names at most a hundred faults, and counts the others', () => {
    const range = { encf_desde: 'E310000000002', encf_hasta: 'E310000000001' };
    const detail_lines = [{ ecf_type: '31', sequence_ranges: Array(150).fill(range) }];
    expect(() => read({ ...full(), total_encf_canceled: null, detail_lines })).toThrow(
      expect.objectContaining({
        items: expect.arrayContaining([{ loc: ['body'], msg: '50 more places are at fault.', type: 'more' }]),
      }),
    );
  });
});
