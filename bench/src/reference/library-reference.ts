// The reference of submit.bench as a program: what an integrator writes around the npm library `dgii-ecf`. It turns JSON into XML,
// signs it, sends it, inserts a row, queries the result and updates the row.
//
// Environment: AUTHORITY_URL, DATABASE_URL, P12 (a file), P12_PASSWORD. Sends its port to its parent.
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ECF, ENVIRONMENT, getCurrentFormattedDateTime, P12Reader, Signature, Transformer } from 'dgii-ecf';
import { restClient } from 'dgii-ecf/dist/networking/restClient.js';
import express from 'express';
import pg from 'pg';

interface Invoice {
  ECF: { Encabezado: { IdDoc: { eNCF: string }; Emisor: { RNCEmisor: string } }; FechaHoraFirma?: string };
}

const { AUTHORITY_URL = '', DATABASE_URL, P12 = '', P12_PASSWORD = '' } = process.env;
restClient.defaults.baseURL = AUTHORITY_URL;
const keys = new P12Reader(P12_PASSWORD).getKeyFromFile(P12);
const authority = new ECF(keys, ENVIRONMENT.DEV);
const signature = new Signature(keys.key as string, keys.cert as string);
const transformer = new Transformer();
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });

/** Queries the result until the authority has decided. */
async function follow(id: string, trackId: string, pauseMs: number): Promise<string> {
  for (;;) {
    await delay(pauseMs);
    const result = await authority.statusTrackId(trackId);
    if (result === undefined || String(result.estado) === 'En Proceso') continue;
    const values = [id, result.estado, JSON.stringify(result)];
    await pool.query('UPDATE invoice SET status = $2, response = $3, updated_at = now() WHERE id = $1', values);
    return result.estado;
  }
}

const app = express();
app.use(express.json({ limit: '10mb' }));
app.post('/invoices', async (req, res) => {
  const invoice = req.body as Invoice;
  invoice.ECF.FechaHoraFirma = getCurrentFormattedDateTime();
  const { eNCF } = invoice.ECF.Encabezado.IdDoc;
  const { RNCEmisor } = invoice.ECF.Encabezado.Emisor;
  const xml = signature.signXml(transformer.json2xml(invoice), 'ECF');
  const sent = await authority.sendElectronicDocument(xml, `${RNCEmisor}${eNCF}.xml`);
  const trackId = sent?.trackId as string;
  const { rows } = await pool.query<{ id: string }>(
    "INSERT INTO invoice (rnc, encf, xml, track_id, status) VALUES ($1, $2, $3, $4, 'EnProceso') RETURNING id",
    [RNCEmisor, eNCF, xml, trackId],
  );
  const waits = req.query.wait !== undefined;
  const verdict = follow((rows[0] as { id: string }).id, trackId, waits ? 250 : 1_000);
  res.json({ encf: eNCF, trackId, status: waits ? await verdict : 'EnProceso' });
});

await pool.query(`CREATE TABLE invoice (id bigserial PRIMARY KEY, rnc text NOT NULL, encf text NOT NULL, xml text NOT NULL,
  track_id text, status text NOT NULL, response jsonb, created_at timestamptz DEFAULT now(), updated_at timestamptz)`);
await pool.query('CREATE INDEX invoice_encf ON invoice (rnc, encf)');
await authority.authenticate();
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));
