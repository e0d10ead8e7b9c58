// GET /invoices/{encf}/pdf over HTTP on the standalone deployment: processor time of all its processes for a document, and the peak
// of the renderer's memory, by number of lines. The documents are consumer invoices; the one of 10,000 lines is a debit note, because the
// schemas allow other types 1,000.
//
// Settings: BENCH_ROUNDS (5; one for 10,000 lines).
import fs from 'node:fs';
import { startDeploymentProcess } from '@ecf/test-servers/deployment';
import { benchFolder } from './harness/ending.js';
import { childCalled, forgetPeak, peakBytes, processorSecondsOfTree } from './harness/processes.js';
import { heading, line } from './harness/report.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const EXAMPLE = new URL('../../examples/ecf-32.json', import.meta.url);

const { child, demo, end } = await startDeploymentProcess('standalone', benchFolder(), { LOG_LEVEL: 'warn' });
const program = child.pid as number;
const headers = { 'x-api-key': demo.api_key, 'rnc-issuing': demo.issuer_rnc };

/** Submits a consumer invoice of lines of one peso, or a debit note to one. */
async function submit(encf: string, lines: number, modifies?: string): Promise<void> {
  const invoice = JSON.parse(fs.readFileSync(EXAMPLE, 'utf8'));
  const { IdDoc, Emisor } = invoice.ECF.Encabezado;
  const total = `${lines}.00`;
  IdDoc.eNCF = encf;
  IdDoc.TablaFormasPago = { FormaDePago: [{ FormaPago: '1', MontoPago: total }] };
  delete IdDoc.IndicadorMontoGravado;
  Emisor.RNCEmisor = demo.issuer_rnc;
  if (modifies !== undefined) {
    IdDoc.TipoeCF = '33';
    IdDoc.FechaVencimientoSecuencia = `31-12-${new Date().getFullYear() + 2}`;
    invoice.ECF.InformacionReferencia = {
      NCFModificado: modifies,
      FechaNCFModificado: Emisor.FechaEmision,
      CodigoModificacion: '3',
    };
  }
  invoice.ECF.Encabezado.Totales = { MontoExento: total, MontoTotal: total };
  invoice.ECF.DetallesItems.Item = Array.from({ length: lines }, (_, index) => ({
    NumeroLinea: String(index + 1),
    IndicadorFacturacion: '4',
    NombreItem: `Tornillo de acero ${index + 1}`,
    IndicadorBienoServicio: '1',
    CantidadItem: '1.00',
    UnidadMedida: '43',
    PrecioUnitarioItem: '1.0000',
    MontoItem: '1.00',
  }));
  const answer = await fetch(`${demo.base_url}/fe_Submit`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(invoice),
  });
  if (!answer.ok) throw new Error(`${encf}: ${answer.status} ${(await answer.text()).slice(0, 500)}`);
}

async function print(encf: string, format: string): Promise<number> {
  const answer = await fetch(`${demo.base_url}/invoices/${encf}/pdf?format=${format}`, { headers });
  if (!answer.ok) throw new Error(`${encf}: ${answer.status} ${(await answer.text()).slice(0, 500)}`);
  return (await answer.arrayBuffer()).byteLength;
}

heading('GET /invoices/{encf}/pdf');
for (const [index, lines] of [10, 1_000, 10_000].entries()) {
  const encf = `E${lines > 1_000 ? 33 : 32}000090000${index}`;
  await submit(encf, lines, lines > 1_000 ? 'E320000900001' : undefined);
  const rounds = lines < 10_000 ? ROUNDS : 1;
  for (const format of ['letter', 'ticket']) {
    await print(encf, format);
    const renderer = childCalled(program, 'renderer.process');
    forgetPeak(renderer);
    const before = processorSecondsOfTree(program);
    let bytes = 0;
    for (let round = 0; round < rounds; round += 1) bytes = await print(encf, format);
    const ms = ((processorSecondsOfTree(program) - before) / rounds) * 1_000;
    const memory = peakBytes(renderer) / 1024 ** 2;
    line(
      `${lines} lines, ${format}: ${ms.toFixed(0)} ms of processor time, renderer at most ${memory.toFixed(0)} MiB, ${Math.round(bytes / 1024)} KiB`,
    );
  }
}
await end('SIGTERM');
