import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { useDeployment } from '../support/deployment.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const PAGES = ['integrators.md', 'providers.md', 'operators.md', 'extending.md'];
/** Shown and not run here: each is what starts or runs these very tests. */
const SHOWN = ['npm start', 'npm run generate', 'npm test', 'npm run lint', 'npm run typecheck'];

const deployment = useDeployment({ LOG_LEVEL: 'info' });

/** The fenced blocks of a page, by their language. */
function blocks(page: string): { language: string; text: string; line: number }[] {
  const text = fs.readFileSync(path.join(ROOT, 'docs', page), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: body = '', index }) => ({
    language,
    text: body,
    line: text.slice(0, index).split('\n').length + 1,
  }));
}

function run(script: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    child.once('close', (code) => resolve({ code, output }));
  });
}

describe('the commands of a page of the documentation', () => {
  it.each(PAGES)(
    'work as they stand: %s',
    async (page) => {
      const work = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-docs-'));
      try {
        const parts = blocks(page).filter(({ language }) => language === 'sh');
        expect(parts.length).toBeGreaterThan(3);
        const script = parts.map(({ text, line }) => `echo "== line ${line}"\n${text}`).join('\n');
        const env = { DATA_DIR: deployment.dataDir, WORK: work };
        const { code, output } = await run(script, env);
        const end = output.slice(-1_500);
        expect({ page, code, end }).toEqual({ page, code: 0, end });
      } finally {
        fs.rmSync(work, { recursive: true, force: true });
      }
    },
    60_000,
  );

  it.each(PAGES)('are all run, but for those that start or run the tests: %s', (page) => {
    const others = blocks(page).filter(({ language }) => language !== 'sh');
    expect(others.filter(({ language }) => language !== 'console')).toEqual([]);
    const lines = others.flatMap(({ text }) => text.trim().split('\n'));
    expect(lines.filter((line) => !SHOWN.includes(line))).toEqual([]);
  });

  it.each(PAGES)('stand beside links that lead somewhere: %s', (page) => {
    const text = fs.readFileSync(path.join(ROOT, 'docs', page), 'utf8');
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !fs.existsSync(path.join(ROOT, 'docs', link)))).toEqual([]);
  });
});
