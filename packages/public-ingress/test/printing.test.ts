import { readFileSync } from 'node:fs';
import { createPrinter, type PrintRequest } from '@ecf/printed-form';
import { describe, expect, it } from '@jest/globals';
import { openPrinting } from '../src/printing.js';

const xml = readFileSync(new URL('../../../examples/golden/ecf-32.xml', import.meta.url));
const request: PrintRequest = { xml, env: 'eCF', format: 'ticket' };

describe('the printing of a service', () => {
  it.each<[string, Partial<PrintRequest>, number, number, string]>([
    ['409 for a document that is not a signed e-CF', { xml: Buffer.from('<a/>') }, 64, 409, 'not_printable'],
    ['503 when too many documents wait', {}, 0, 503, 'overloaded'],
    ['500 for a logo that cannot be drawn', { logo: { type: 'png', bytes: Buffer.of(1) } }, 64, 500, 'internal_error'],
    ['400 for a caller who left', { signal: AbortSignal.abort() }, 64, 400, 'bad_request'],
  ])('answers %s.', async (_, change, mostWaiting, status, code) => {
    const printing = openPrinting(createPrinter({ mostWaiting }));
    try {
      await expect(printing.print({ ...request, ...change })).rejects.toMatchObject({ status, code });
    } finally {
      printing.close();
    }
  });
});
