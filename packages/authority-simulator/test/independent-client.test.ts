import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { startSimulator } from '../src/index.js';
import { certificate } from './support/signing.js';

const script = path.join(path.dirname(fileURLToPath(import.meta.url)), 'support/independent-client.cjs');

describe('a client that was written for the authority itself', () => {
  it('does all its work with only the host changed', async () => {
    const simulator = await startSimulator({ processingMs: 0 });
    const temporary = mkdtempSync(path.join(tmpdir(), 'simulator-client-'));
    try {
      const p12 = path.join(temporary, 'certificate.p12');
      const holder = certificate();
      writeFileSync(p12, holder.p12);
      const run = promisify(execFile)(process.execPath, [script, simulator.url, p12, holder.password]);
      const answers = JSON.parse((await run).stdout.trim().split('\n').at(-1) ?? '');
      expect(answers).toMatchObject({
        token: { token: expect.any(String) },
        sent: { trackId: expect.any(String) },
        result: { codigo: '1', estado: 'Aceptado' },
        trackIds: [{ estado: 'Aceptado' }],
        state: { codigo: 1, montoTotal: 1180 },
        summary: { codigo: 1, estado: 'Aceptado' },
        summaryState: { codigo: '1' },
        approval: { codigo: '01' },
        directory: [{ rnc: '131880681' }],
        receipt: expect.stringContaining('<Estado>0</Estado>'),
      });
    } finally {
      await simulator.stop();
      rmSync(temporary, { recursive: true });
    }
    // Its process takes longer to start than anything else here.
  });
});
