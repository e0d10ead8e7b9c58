import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, newAccount } from '../support/client.js';
import { type Standalone, startDeployment } from '../support/deployment/standalone-process.js';

const SET = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../shared/certification/ecf');
const present = fs.existsSync(SET);
const ISSUER = { rnc: '133470616', name: 'DOCUMENTOS ELECTRONICOS DE 02' };

/** The order that the authority requires: full documents, then notes on them, then summaries. */
function inOrder(names: string[]): string[] {
  const stage = (name: string) =>
    /^E3[34]/.test(name) ? 1 : Number(total(name)) < 250_000 && /^E32/.test(name) ? 2 : 0;
  return [...names].sort((a, b) => stage(a) - stage(b) || a.localeCompare(b));
}

const invoice = (name: string) => JSON.parse(fs.readFileSync(path.join(SET, name), 'utf8'));
const total = (name: string): string => invoice(name).ECF.Encabezado.Totales.MontoTotal;

(present ? describe : describe.skip)('the certification set, from JSON to its final state (needs ../shared)', () => {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-certification-'));
  let standalone: Standalone;
  let client: Client;

  beforeAll(async () => {
    fs.chmodSync(dataDir, 0o755);
    standalone = await startDeployment(dataDir);
    client = await newAccount(standalone, ISSUER);
  });
  afterAll(async () => {
    await standalone?.end('SIGTERM');
    fs.rmSync(dataDir, { recursive: true, force: true });
  });

  it('is accepted, each document without errors and warnings', async () => {
    const results: Record<string, unknown>[] = [];
    for (const name of inOrder(fs.readdirSync(SET))) {
      const { status, body } = await client.submit(invoice(name));
      results.push({
        name,
        http: status,
        status: body.status,
        messages: body.messages,
        faults: body.faults,
        warnings: body.warnings,
      });
    }
    expect(results).toHaveLength(25);
    for (const result of results)
      expect(result).toEqual({
        name: result.name,
        http: 200,
        status: 'Aceptado',
        messages: [],
        faults: undefined,
        warnings: [],
      });
  });

  it('left exactly one effective submission of each number at the authority', async () => {
    const { body } = await client.control('GET', `/submissions?rnc=${ISSUER.rnc}`);
    const effective = (body as { encf: string; effective: boolean }[]).filter((row) => row.effective);
    expect(effective.map((row) => row.encf).sort()).toEqual(
      fs
        .readdirSync(SET)
        .map((name) => name.slice(0, 13))
        .sort(),
    );
  });
});
