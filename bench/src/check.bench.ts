// `ecf check` over lines of JSON, as its users run it: a process of its own that reads one invoice of ten lines per row from
// a pipe. Documents a second and the largest resident set, for few rows and for many: the memory must not grow with the rows.
//
// CHECK_ROWS=1000,20000,100000 (the last is compared with the one before; 1000,20000,1000000 takes some minutes); CHECK_ROUNDS (3) of the
// smallest, larger ones run once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { examineJson, parseDocument } from '@ecf/ecf-xml';
import { median, repeat, seconds } from './harness/measure.js';
import { peakBytes, processorSeconds } from './harness/processes.js';
import { heading, line } from './harness/report.js';
import { encfOf, invoice } from './inputs/sample.js';

const ROWS = (process.env.CHECK_ROWS ?? '1000,20000,100000').split(',').map(Number);
const ROUNDS = Number(process.env.CHECK_ROUNDS ?? 3);
const LINES = 10;
const MEBIBYTE = 1024 * 1024;
const ECF = fileURLToPath(new URL('../../packages/cli/bin/ecf.mjs', import.meta.url));
/** Rows that are written to the pipe at once. */
const BLOCK = 200;

interface Checked {
  seconds: number;
  /** Seconds of processor time of the command alone. */
  processor: number;
  peak: number;
}

const document = invoice(encfOf(0), LINES) as { ECF: Record<string, unknown> };
document.ECF.FechaHoraFirma = '02-01-2026 10:00:00';
const json = JSON.stringify(document);
const [head, tail] = json.split(encfOf(0)) as [string, string];

heading(`ecf check, rows of ${Buffer.byteLength(json)} bytes (${LINES} lines each)`);
await check(ROWS[0] as number);
const peaks: number[] = [];
for (const [index, rows] of ROWS.entries()) {
  const rounds: Checked[] = [];
  for (let round = 0; round < (index === 0 ? ROUNDS : 1); round += 1) rounds.push(await check(rows));
  const took = median(rounds.map((one) => one.seconds));
  const processor = median(rounds.map((one) => one.processor));
  const peak = Math.max(...rounds.map((one) => one.peak));
  peaks.push(peak);
  line(
    `${rows} rows: ${(rows / took).toFixed(0)} documents/s with the start of the process, ` +
      `${((processor / rows) * 1e6).toFixed(0)} µs of processor time each; at most ${(peak / MEBIBYTE).toFixed(0)} MiB; ${rounds.length} runs`,
  );
}
const [before, last] = [ROWS.at(-2), ROWS.at(-1)];
if (before !== undefined) {
  const growth = (peaks.at(-1) as number) / (peaks.at(-2) as number);
  line(`memory of ${last} rows: ${growth.toFixed(2)} × that of ${before} (goal: flat)`);
}
const bare = repeat(() => examineJson(parseDocument(json), { now: new Date() }));
await seconds(bare, 3_000);
line(`the check alone, in this process: ${((await seconds(bare, 10_000)) * 100).toFixed(0)} µs of one core each`);

/** Runs the command on `rows` rows; throws Error when it finds a fault. */
async function check(rows: number): Promise<Checked> {
  const began = performance.now();
  const child = spawn(process.execPath, [ECF, 'check'], { stdio: ['pipe', 'ignore', 'pipe'] });
  const pid = child.pid as number;
  const ended = once(child, 'exit');
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const seen = { peak: 0, processor: 0 };
  const looking = setInterval(() => {
    const peak = peakBytes(pid);
    const processor = processorSeconds(pid);
    if (peak > seen.peak) seen.peak = peak;
    if (processor > seen.processor) seen.processor = processor;
  }, 20);
  try {
    for (let next = 1; next <= rows; next += BLOCK) {
      const count = Math.min(BLOCK, rows - next + 1);
      const block = Array.from({ length: count }, (_, index) => `${head}${encfOf(next + index)}${tail}\n`).join('');
      if (!child.stdin.write(block)) await Promise.race([once(child.stdin, 'drain'), ended]);
    }
    child.stdin.end();
    const [code] = await ended;
    if (code !== 0) throw new Error(`ecf check ended with ${code}: ${said}`);
  } finally {
    clearInterval(looking);
  }
  return { seconds: (performance.now() - began) / 1000, ...seen };
}
