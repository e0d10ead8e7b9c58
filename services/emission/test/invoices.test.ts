import { afterAll, describe, expect, it } from '@jest/globals';
import { unreadLine } from '../src/batches/line-numbers.js';
import { createInvoices } from '../src/issue/invoices.worker.js';
import { isLargeInvoice, readInvoiceJson } from '../src/issue/read-invoice-json.js';
import { NOW } from './support/attempts.js';
import { type Document, encf, example, ISSUER } from './support/documents.js';

const TIMEOUT_MS = 60_000;

describe('large invoices', () => {
  const invoices = createInvoices({ threads: 1, timeoutMs: TIMEOUT_MS, watchQueue: () => undefined });
  afterAll(() => invoices.close());

  const large = (change: (ecf: Document) => void = () => undefined) =>
    Buffer.from(
      JSON.stringify(
        example('ecf-33', 1, (ecf) => {
          const line = [ecf.DetallesItems.Item].flat()[0];
          ecf.DetallesItems.Item = Array.from({ length: 2_000 }, (_, at) => ({
            ...line,
            NumeroLinea: String(at + 1),
            DescripcionItem: 'x'.repeat(100),
          }));
          change(ecf);
        }),
      ),
    );
  const read = (data: Buffer, given: Parameters<typeof readInvoiceJson>[3] = null) =>
    invoices.read(data, 'TesteCF', NOW, given, false, null, 'account');

  /** The outcome of the reading, and whether the event loop turned meanwhile. */
  async function whileTurning<T>(work: Promise<T>): Promise<{ outcome: T | Error; turned: boolean }> {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const outcome = await work.catch((error: Error) => error);
    return { outcome, turned };
  }

  it('are read in another thread, with the result of the same reading', async () => {
    const data = large();
    expect(isLargeInvoice(data)).toBe(true);
    const { outcome, turned } = await whileTurning(read(data));
    expect(turned).toBe(true);
    expect(outcome).toEqual(readInvoiceJson(data, 'TesteCF', NOW, null, false));
  });

  it('that leave their number open are read without a number, and with the number that they are given', async () => {
    const data = large((ecf) => {
      delete ecf.Encabezado.IdDoc.eNCF;
    });
    const open = await read(data);
    expect(open).toMatchObject({ isOpen: true });
    expect(open.invoice.written.output).not.toContain('<eNCF>');
    const { invoice } = await read(data, { encf: 'E330000000077', expiry: null });
    expect(invoice.key.encf).toBe('E330000000077');
    expect(invoice.written.output).toContain('<eNCF>E330000000077</eNCF>');
  });

  it.each([
    ['an absent list under many lists', `${'['.repeat(48)}${absent()},"x"${']'.repeat(48)}`],
    ['2.4 million escaped characters', JSON.stringify('&lt;'.repeat(2_400_000))],
    ['ten megabytes of escapes', `"${'\\n'.repeat(5_000_000)}"`],
    ['lists of lists', `[${new Array(60_000).fill('[[[[[[[[[[["x"]]]]]]]]]]]').join(',')}]`],
  ])('that are hostile, with %s, leave the event loop free', async (_, text) => {
    const data = Buffer.from(
      JSON.stringify(
        example('ecf-31', 1, (ecf) => {
          ecf.Encabezado.Emisor.RazonSocialEmisor = '@';
        }),
      ).replace('"@"', () => text.padEnd(200_000)),
    );
    const { outcome, turned } = await whileTurning(read(data));
    expect(turned).toBe(true);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'EmissionError', code: expect.any(String) });
  });

  it('of a batch have their numbers read in another thread, even if they cannot be read', async () => {
    const HASH = expect.stringMatching(/^[0-9a-f]{64}$/);
    const NOTHING_READ = { ...unreadLine(null), contentHash: HASH };
    expect(await invoices.line(large())).toEqual({
      encf: encf('33', 1),
      issuerRnc: ISSUER,
      refersTo: expect.anything(),
      ownReference: null,
      isJson: true,
      isOpen: false,
      contentHash: HASH,
    });
    const slow = await whileTurning(invoices.line(Buffer.from(`{"ECF":[${absent()}]}`)));
    expect(slow).toEqual({
      outcome: NOTHING_READ,
      turned: true,
    });
    const hostile = await invoices.line(Buffer.from('[[],'.repeat(500_000)));
    expect(hostile).toEqual(NOTHING_READ);
  });

  it('of a batch wait for the thread, whatever their number, although an account has at most eight waiting calls', async () => {
    const busy = createInvoices({ threads: 1, timeoutMs: TIMEOUT_MS, watchQueue: () => undefined });
    const told: string[] = [];
    const watch = { begins: async () => void told.push('begins'), ended: async () => void told.push('ended') };
    const data = large();
    const lines = Array.from({ length: 18 }, () => busy.read(data, 'TesteCF', NOW, null, true, watch, 'account'));
    const calls = ['one', 'other'].flatMap((account) =>
      Array.from({ length: account === 'one' ? 9 : 8 }, () =>
        busy.read(data, 'TesteCF', NOW, null, false, null, account),
      ),
    );
    const refused = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected');
    expect(refused).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ status: 503, code: 'overloaded' }) },
    ]);
    await Promise.all(lines);
    for (const word of ['begins', 'ended']) expect(told.filter((each) => each === word)).toHaveLength(18);
    await busy.close();
  });

  it('that take too long are refused each time, and the next invoice is read', async () => {
    const impatient = createInvoices({ threads: 1, timeoutMs: 1, watchQueue: () => undefined });
    const refusal = await impatient
      .read(large(), 'TesteCF', NOW, null, false, null, 'account')
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'document_too_costly', retryAfterSeconds: null });
    expect((refusal as Error).message).toContain('takes too much time to check');
    await impatient.close();
  });
});

/** Five megabytes of nothing. */
function absent(): string {
  return new Array(19).fill(`[${new Array(90_000).fill('""').join(',')}]`).join(',');
}
