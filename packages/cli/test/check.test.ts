import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { COMMANDS } from '../src/commands.js';
import { command, ecf, program, rows, shell } from './ecf.js';
import { consumerInvoice, creditInvoice } from './samples.js';

const folder = mkdtempSync(join(tmpdir(), 'ecf-check-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}

const line = (document: unknown): string => JSON.stringify(document);

describe('ecf check on standard input', () => {
  it('gives one row for each line, in order, counted from 1', async () => {
    const faulty = consumerInvoice('E320000000002');
    delete faulty.ECF.Encabezado.IdDoc.TipoPago;
    const input = [
      line(consumerInvoice()),
      line(faulty),
      '{"ECF": {',
      '',
      '[1, 2]',
      '"text"',
      `${line(creditInvoice())}\r`,
      '{"Factura": {}}',
    ].join('\n');
    const { code, stdout, stderr } = await program(['check', '--json'], input);
    const found = rows(stdout);
    expect(code).toBe(1);
    expect(found.map(({ line, valid }) => [line, valid])).toEqual([
      [1, true],
      [2, false],
      [3, false],
      [4, false],
      [5, false],
      [6, false],
      [7, true],
      [8, false],
    ]);
    expect(found[0]).toEqual({
      line: 1,
      document: 'ECF',
      type: '32',
      encf: 'E320000000001',
      valid: true,
      faults: [],
      warnings: [],
    });
    expect(found[1]).toMatchObject({
      encf: 'E320000000002',
      faults: [{ path: 'ECF.Encabezado.IdDoc.TipoPago', rule: 'schema.required', code: null }],
    });
    expect(found[2]).toMatchObject({ document: null, type: null, encf: null, faults: [{ rule: 'schema.type' }] });
    expect(stderr).toContain('8 documents, 6 at fault');
  });

  it('counts a warning as a fault with --strict', async () => {
    const invoice = creditInvoice();
    invoice.ECF.Encabezado.Totales.MontoTotal = '11437.00';
    const { code, stdout } = await ecf(['check', '--json'], line(invoice));
    const [accepted] = rows(stdout);
    expect([code, accepted?.valid, accepted?.faults]).toEqual([0, true, []]);
    const strict = await ecf(['check', '--json', '--strict'], line(invoice));
    expect([strict.code, rows(strict.stdout)]).toEqual([
      1,
      [{ ...accepted, valid: false, faults: accepted?.warnings, warnings: [] }],
    ]);
    const { stdout: text } = await ecf(['check', '--text', '--strict'], line(invoice));
    expect(text).toMatch(/^FAULTY .*\n +warning: /);
  });

  it('reads standard input for -, and a last line without a line end', async () => {
    const { code, stdout } = await ecf(
      ['check', '--json', '-'],
      `${line(consumerInvoice())}\n${line(creditInvoice())}`,
    );
    expect(code).toBe(0);
    expect(rows(stdout).map(({ type }) => type)).toEqual(['32', '31']);
    expect(await ecf(['check', '--json'], '')).toMatchObject({ code: 0, stdout: '' });
  });

  it('reports incomplete lines and invalid UTF-8 with their place, and continues', async () => {
    const latin1 = Buffer.from(line(consumerInvoice()), 'latin1');
    const input = Buffer.concat([latin1, Buffer.from(`\n{"ECF": tru}\n${line(consumerInvoice())}\n`)]);
    const { stdout } = await ecf(['check', '--json'], input);
    const found = rows(stdout) as { valid: boolean; faults: { message: string }[] }[];
    expect(found.map(({ valid }) => valid)).toEqual([false, false, true]);
    expect(found[0]?.faults[0]?.message).toContain('UTF-8');
    expect(found[1]?.faults[0]?.message).toMatch(/column \d+/);
  });

  it('skips a line that no document could fill', async () => {
    const long = Buffer.alloc(21 * 1024 * 1024, ' ');
    const input = Buffer.concat([long, Buffer.from(`\n${line(consumerInvoice())}\n`), long]);
    const { code, stdout } = await program(['check', '--json'], input);
    const found = rows(stdout) as { line: number; valid: boolean; faults: { message: string }[] }[];
    expect(code).toBe(1);
    expect(found.map(({ line, valid }) => [line, valid])).toEqual([
      [1, false],
      [2, true],
      [3, false],
    ]);
    expect(found[0]?.faults[0]?.message).toContain('longer than');
  });

  it('keeps the order of 10,000 lines, which all cores check', async () => {
    const documents = Array.from({ length: 10_000 }, (_, i) =>
      i % 5 === 3 ? `{"broken": ${i}` : line(consumerInvoice(`E32${String(i + 1).padStart(10, '0')}`)),
    );
    const { stdout } = await program(['check', '--json', '--quiet'], documents.join('\n'));
    const found = rows(stdout);
    expect(found).toHaveLength(10_000);
    found.forEach((row, i) => {
      expect([row.line, row.valid, row.encf]).toEqual(
        i % 5 === 3 ? [i + 1, false, null] : [i + 1, true, `E32${String(i + 1).padStart(10, '0')}`],
      );
    });
  });
});

describe('ecf check in a pipe', () => {
  it('ends quietly when the reader has seen enough', async () => {
    const input = file('pipe.ndjson', `${line(consumerInvoice())}\n`.repeat(3000));
    const { code, stdout, stderr } = await shell(`${command} check --json --quiet < ${input} | head -n 1`);
    expect([code, rows(stdout).length, stderr]).toEqual([0, 1, '']);
  });
});

describe('ecf check on files', () => {
  it('reads JSON, XML and lines, and names the file', async () => {
    const json = file('invoice.json', consumerInvoice());
    const xml = file('invoice.xml', (await ecf(['build', json])).stdout);
    const many = file('many.ndjson', `${line(consumerInvoice())}\n{\n`);
    const { code, stdout } = await ecf(['check', json, xml, many]);
    expect(code).toBe(1);
    const found = rows(stdout);
    expect(found.map(({ file, line, valid }) => ({ file, line, valid }))).toEqual([
      { file: json, line: undefined, valid: true },
      { file: xml, line: undefined, valid: false },
      { file: many, line: 1, valid: true },
      { file: many, line: 2, valid: false },
    ]);
    const missing = (found[1] as { faults: { path: string }[] }).faults.map(({ path }) => path);
    expect(missing).toEqual(expect.arrayContaining(['ECF.Signature']));
  });

  it('leaves the business rules out with --schema-only', async () => {
    const invoice = consumerInvoice();
    invoice.ECF.Encabezado.Totales.MontoTotal = '5.00';
    const path = file('total.json', invoice);
    expect(await ecf(['check', '--schema-only', path])).toMatchObject({ code: 0 });
    const strict = await ecf(['check', path]);
    const [row] = rows(strict.stdout) as { faults: { rule: string }[]; warnings: { rule: string }[] }[];
    expect([...row!.faults, ...row!.warnings].some(({ rule }) => rule.startsWith('business.'))).toBe(true);
  });

  it('is readable for people with --text', async () => {
    const faulty = consumerInvoice();
    delete faulty.ECF.Encabezado.IdDoc.TipoPago;
    const { stdout } = await ecf([
      'check',
      '--text',
      file('faulty.json', faulty),
      file('good.json', consumerInvoice()),
    ]);
    expect(stdout).toMatch(/^FAULTY {2}e-CF 32 E320000000001 {2}.*faulty\.json$/m);
    expect(stdout).toMatch(/^ {4}ECF\.Encabezado\.IdDoc\.TipoPago: .* \(schema\.required, .*\)$/m);
    expect(stdout).toMatch(/^valid {3}e-CF 32 E320000000001 {2}.*good\.json$/m);
  });

  it('names a file that cannot be read, checks the others, and ends with 2', async () => {
    const good = file('good.json', consumerInvoice());
    const { code, stdout, stderr } = await ecf([
      'check',
      join(folder, 'none.json'),
      folder,
      join(folder, 'none.ndjson'),
      good,
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('none.json does not exist');
    expect(stderr).toContain('none.ndjson does not exist');
    expect(stderr).toContain('is a folder');
    expect(rows(stdout)).toMatchObject([{ file: good, valid: true }]);
  });
});

describe('ecf', () => {
  it('explains every command in its overview and in its own help, in 80 columns', async () => {
    const overview = await ecf(['help']);
    expect(overview).toMatchObject({ code: 0, stderr: '' });
    const texts = [overview.stdout];
    for (const name of Object.keys(COMMANDS)) {
      expect(overview.stdout).toContain(`\n  ${name} `);
      const help = await ecf([name, '--help']);
      expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(`^ecf ${name} `) });
      expect(help.stdout).toMatch(/\n\nExit codes\n {2}0 {2}.*\n\nExamples\n {2}.*\n$/s);
      expect(await ecf(['help', name])).toEqual(help);
      texts.push(help.stdout);
    }
    expect(texts.flatMap((text) => text.split('\n').filter((line) => line.length > 80))).toEqual([]);
    expect((await program(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('ends with 2 when it is used wrongly', async () => {
    const wrong: [string[], string][] = [
      [[], 'Usage'],
      [['chekc'], 'unknown command "chekc"'],
      [['__proto__'], 'unknown command'],
      [['check', '--jsn'], '--jsn'],
      [['check', '--json', '--text'], 'exclude each other'],
      [['build', 'a', 'b'], 'one FILE'],
      [['build', '/does/not/exist.json'], '/does/not/exist.json does not exist'],
      [['sign', 'a.json'], '--certificate'],
      [['sign', '--certificate', 'a.p12', 'a.json'], '--password-file'],
      [['qr', '--env', 'prod', 'a.xml'], 'TesteCF, CerteCF, eCF'],
    ];
    const ran = await Promise.all(wrong.map(([args]) => ecf(args)));
    expect(await program(wrong[1]?.[0] ?? [])).toEqual(ran[1]);
    for (const [i, [args, says]] of wrong.entries()) {
      expect([args, ran[i]?.code, ran[i]?.stdout]).toEqual([args, 2, '']);
      expect(ran[i]?.stderr).toContain(says);
    }
  });
});
