import fs from 'node:fs';
import { identifierOf, SERVICE_NAMES } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { CALLS_IN_FLIGHT, CONNECTIONS, DEFAULTS, KEPT_DAYS, MOST_POLLS } from '../src/sizing/assumptions.js';
import { readMeasured, sizing } from '../src/sizing/command.js';
import { instancesOf, predictedMs } from '../src/sizing/costs.js';
import { planOf } from '../src/sizing/model.js';
import { waitOf } from '../src/sizing/queue.js';

const measured = readMeasured();
const MILLION = { documentsPerHour: 1_000_000, peak: 3, lines: 10, receivedShare: 0.3, years: 10, authorityMs: 500 };

describe('the model of sizes, held to the measurements', () => {
  const runs = measured.runs.filter(({ kind, lines }) => kind === 'issued' && lines === 10);

  it('was measured with one instance of each service and with more', () => {
    expect(runs.map(({ instances }) => instances)).toEqual([1, 2, 4]);
  });

  it.each(runs)('predicts within 25 % the processor time of a document with $instances instances', (run) => {
    const predicted = predictedMs(measured, run);
    const whole = Object.values(predicted).reduce((sum, ms) => sum + ms, 0);
    const parts = Object.keys(predicted).flatMap((name) => instancesOf(run, name));
    const used = parts.reduce((sum, { ms }) => sum + ms, 0);
    expect(used / whole).toBeGreaterThan(0.75);
    expect(used / whole).toBeLessThan(1.25);
    // The rate that fits into the cores that the run had. The simulator is not part of the prediction.
    const simulator = run.processes['authority-simulator']?.ms ?? 0;
    const rate = run.documents / run.seconds;
    expect((run.cores * 1_000) / (whole + simulator) / rate).toBeGreaterThan(0.75);
    expect((run.cores * 1_000) / (whole + simulator) / rate).toBeLessThan(1.25);
  });

  it.each(runs)('predicts the memory and the connections of $instances instances', (run) => {
    const plan = planOf(measured, { ...MILLION, documentsPerHour: 1 });
    for (const { name, instances, connections, mebibytes } of plan.services) {
      const own = instancesOf(run, name);
      expect(Math.max(...own.map((one) => one.mebibytes))).toBeLessThanOrEqual(mebibytes);
      const database = run.connections[identifierOf(name)] ?? 0;
      expect(database / own.length).toBeLessThanOrEqual(connections / instances);
    }
  });
});

describe('the plan of a load', () => {
  it('grows with the documents, the peak, the lines, the received share and the years', () => {
    const plan = planOf(measured, MILLION);
    const sums = (demand: Partial<typeof MILLION>) => {
      const { services, servers, databases, archive } = planOf(measured, { ...MILLION, ...demand });
      const cores = [...services, ...servers].reduce((sum, part) => sum + part.cores, 0);
      return { cores, disk: databases.reduce((sum, { total }) => sum + total, archive.total) };
    };
    const base = sums({});
    const twice = sums({ documentsPerHour: 2_000_000 });
    expect(twice.cores / base.cores).toBeCloseTo(2, 1);
    expect(twice.disk / base.disk).toBeCloseTo(2, 5);
    expect(sums({ peak: 6 }).cores / base.cores).toBeCloseTo(2, 1);
    expect(sums({ peak: 6 }).disk).toBe(base.disk);
    for (const more of [{ lines: 50 }, { receivedShare: 1 }]) {
      expect(sums(more).cores).toBeGreaterThan(base.cores);
      expect(sums(more).disk).toBeGreaterThan(base.disk);
    }
    expect(sums({ years: 5 }).disk).toBeLessThan(base.disk);
    expect(plan.services.map(({ name }) => name)).toEqual([...SERVICE_NAMES]);
  });

  it('has two instances of each service for a small load, and as many more as the peak needs', () => {
    const small = planOf(measured, { ...MILLION, documentsPerHour: 100 });
    expect(small.services.map(({ instances, because }) => [instances, because])).toEqual(
      SERVICE_NAMES.map(() => [2, 'availability']),
    );
    // Signatures and validation use other threads than that for which instances are counted.
    for (const { instances, cores } of planOf(measured, MILLION).services) expect(cores).toBeLessThan(2 * instances);
    for (const { partitions, name } of planOf(measured, { ...MILLION, peak: 20 }).topics)
      if (name === 'invoices.v1') expect(partitions).toBeGreaterThan(12);
  });

  it('names the limits, the nearest first, and what moves each', () => {
    const { limits } = planOf(measured, MILLION);
    const ofEach = limits.map(({ documentsPerHour }) => documentsPerHour);
    expect(ofEach).toEqual([...ofEach].sort((a, b) => a - b));
    expect(ofEach.every((limit) => limit > 1_000)).toBe(true);
    expect(limits.every(({ name, movedBy }) => name !== '' && movedBy !== '')).toBe(true);
  });

  it('lets 99 of 100 documents wait longer on a full thread than on one that is loaded to 60 %', () => {
    const wait = (rate: number) => waitOf({ instances: 2, rate, ms: 10 });
    // M/D/1 at 60 %: the 99th percentile is between three and five services.
    expect(wait(120)).toBeGreaterThan(30);
    expect(wait(120)).toBeLessThan(60);
    expect(wait(190)).toBeGreaterThan(3 * wait(120));
    expect(wait(0)).toBe(0);
  });
});

describe('the assumptions', () => {
  it('are the defaults of the settings', () => {
    const rows = fs.readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8').split('\n');
    const row = (setting: string, owner = '') => {
      const found = rows.find((one) => one.startsWith(`| \`${setting}\` |`) && one.includes(owner));
      return (found ?? '').split('|').map((cell) => cell.trim());
    };
    expect(row('POLL_RATE')[4]).toBe(String(DEFAULTS.POLL_RATE));
    expect(row('POLL_RATE')[3]).toContain(String(MOST_POLLS));
    expect(row('RATE_LIMIT_PER_KEY')[2]).toContain(`unset = ${DEFAULTS.RATE_LIMIT_PER_KEY}`);
    expect(row('POLL_CONCURRENCY')[4]).toBe(String(CALLS_IN_FLIGHT['status-poller']));
    expect(row('DELIVERY_CONCURRENCY')[4]).toBe(String(CALLS_IN_FLIGHT.approvals));
    const connections = rows
      .filter((one) => one.startsWith('| `DATABASE_CONNECTIONS`'))
      .map((one) => one.split('|')[4]);
    expect([...new Set(Object.values(CONNECTIONS))].sort()).toEqual([...new Set(connections.map(Number))].sort());
  });

  it('name tables that exist', () => {
    const tables = new Set(Object.keys(measured.runs[0]?.tables ?? {}).map((name) => name.split('.')[1]));
    expect(Object.keys(KEPT_DAYS).filter((table) => !tables.has(table))).toEqual([]);
  });
});

describe('the Helm chart', () => {
  it('requests for a pod what two of each service need for 100,000 documents an hour', () => {
    const values = fs.readFileSync(new URL('../../deploy/helm/ecf-gateway/values.yaml', import.meta.url), 'utf8');
    const { services } = planOf(measured, { ...MILLION, documentsPerHour: 100_000 });
    for (const { name, instances, cores, mebibytes } of services) {
      const section = values.slice(values.indexOf(`\n  ${name}:\n`));
      const [, cpu, memory] = /requests: \{ cpu: (\d+)m, memory: (\d+)Mi \}/.exec(section) ?? [];
      const each = (cores / instances) * 1_000;
      expect({ name, cpu: Number(cpu) >= each && Number(cpu) <= 3 * each + 150 }).toEqual({ name, cpu: true });
      expect({ name, memory: Number(memory) >= mebibytes && instances === 2 }).toEqual({ name, memory: true });
    }
  });
});

describe('npm run sizing', () => {
  it('prints a page of at most 120 columns that names every service and the first bottleneck', () => {
    const { output, error, code } = sizing(['--documents-per-hour', '1000000', '--peak', '3']);
    expect({ error, code }).toEqual({ error: '', code: 0 });
    for (const name of SERVICE_NAMES) expect(output).toContain(`\n${name} `);
    expect(output).toMatch(/^First bottleneck: .+ \([\d,]+ an hour\)\.\nOf the parts: .+ \([\d,]+ an hour\)\.$/m);
    expect(output).not.toMatch(/NaN|Infinity|∞|undefined| -\d/);
    expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  it('prints the plan as JSON', () => {
    const { output } = sizing(['--documents-per-hour', '5000', '--json']);
    expect(JSON.parse(output)).toMatchObject({ demand: { documentsPerHour: 5_000, peak: 3, years: 10 } });
  });

  const given = ['--documents-per-hour', '1000'];
  it.each([
    [[], '--documents-per-hour is missing'],
    [['--documents-per-hour'], '--documents-per-hour has no value'],
    [['--documents-per-hour', ''], '--documents-per-hour is ""'],
    [['--documents-per-hour', '0'], 'it must be a number from 1 to 100000000'],
    [['--documents-per-hour=-5'], '--documents-per-hour is "-5"'],
    [['--documents-per-hour', '1e6'], '--documents-per-hour is "1e6"'],
    [['--documents-per-hour', '1,000'], '--documents-per-hour is "1,000"'],
    [[...given, ...given], '--documents-per-hour is given 2 times; give it once.'],
    [[...given, '--peak', '0.5'], '--peak is "0.5"; it must be a number from 1 to 100'],
    [[...given, '--peak', 'NaN'], '--peak is "NaN"'],
    [[...given, '--lines', '2.5'], '--lines is "2.5"; it must be a whole number from 1 to 1000'],
    [[...given, '--lines', '0'], '--lines is "0"'],
    [[...given, '--received-share', '11'], '--received-share is "11"; it must be a number from 0 to 10'],
    [[...given, '--years', '1.5'], '--years is "1.5"; it must be a whole number from 1 to 30'],
    [[...given, '--authority-ms', '0'], '--authority-ms is "0"; it must be a number from 1 to 60000'],
    [[...given, '--json=yes'], '--json takes no value; write --json alone.'],
    [[...given, '--region', '2'], '--region is not an option; remove it, or use one of --documents-per-hour,'],
    [['1000'], '"1000" belongs to no option; write --documents-per-hour 1000, or remove it.'],
  ])('refuses %j with a sentence', (args, sentence) => {
    const { output, error, code } = sizing(args);
    expect({ output, code }).toEqual({ output: '', code: 2 });
    expect(error).toContain(sentence);
  });
});
