// From the first invoice to the webhook, with Node 20.19 or later and the client:
//
//   npm install @ecf-gateway/client
//   export ECF_URL=http://127.0.0.1:8080 ECF_API_KEY=ecf_test_...
//   node first-invoice.js sale-1001 https://erp.example.do/events
//
// submits the invoice of a sale, waits for the authority's verdict, saves the printed form and creates a webhook. Then
//
//   WEBHOOK_SECRET=whsec_... PORT=9000 node first-invoice.js receive
//
// receives the events at that address.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, GatewayError, type InvoiceDocument, unwrap, verifyWebhook } from '@ecf-gateway/client';

const ISSUER = '199999991';

/** An invoice for one taxed line. Without eNCF the gateway takes the next number of your range. */
function newInvoice(): InvoiceDocument {
  const today = new Date(Date.now() - 4 * 3_600_000).toISOString().slice(0, 10).split('-').reverse().join('-');
  return {
    ECF: {
      Encabezado: {
        Version: '1.0',
        IdDoc: { TipoeCF: '31', IndicadorMontoGravado: '0', TipoIngresos: '01', TipoPago: '1' },
        Emisor: {
          RNCEmisor: ISSUER,
          RazonSocialEmisor: 'Comercial Palma Ficticia, SRL',
          DireccionEmisor: 'Calle Ejemplo 12, Ensanche Muestra',
          FechaEmision: today,
        },
        Comprador: { RNCComprador: '188888885', RazonSocialComprador: 'Taller Caoba Imaginario, SRL' },
        Totales: {
          MontoGravadoTotal: '1000.00',
          MontoGravadoI1: '1000.00',
          ITBIS1: '18',
          TotalITBIS: '180.00',
          TotalITBIS1: '180.00',
          MontoTotal: '1180.00',
        },
      },
      DetallesItems: {
        Item: [
          {
            NumeroLinea: '1',
            IndicadorFacturacion: '1',
            NombreItem: 'Silla de oficina',
            IndicadorBienoServicio: '1',
            CantidadItem: '2.00',
            PrecioUnitarioItem: '500.0000',
            MontoItem: '1000.00',
          },
        ],
      },
    },
  };
}

/** The client repeats a call after Retry-After, or after a lost answer if that is safe. Every other failure is a GatewayError. */
async function main(sale: string, webhookUrl?: string): Promise<void> {
  const gateway = createClient({ url: process.env.ECF_URL!, apiKey: process.env.ECF_API_KEY!, environment: 'TesteCF' });

  // The key names the sale, so a repeat never makes a second invoice.
  const { encf } = await gateway.submit(newInvoice(), { idempotencyKey: sale, reference: sale });
  if (encf === null) throw new Error('A submitted invoice has a number.');

  let invoice = await gateway.invoices.get({ issuer_rnc: ISSUER, encf });
  while (invoice.status === 'EnProceso') {
    await delay(5_000);
    invoice = await gateway.invoices.get({ issuer_rnc: ISSUER, encf });
  }
  console.log(encf, invoice.status);
  for (const { codigo, valor } of invoice.messages) console.log(codigo, valor);

  await writeFile(`${encf}.pdf`, await gateway.invoices.pdf({ issuer_rnc: ISSUER, encf }));
  console.log(`saved ${encf}.pdf`);

  if (webhookUrl !== undefined) {
    const webhook = await unwrap(gateway.POST('/account/webhooks', { body: { url: webhookUrl } }));
    console.log(`webhook ${webhook.id}, its secret is shown only now: ${webhook.secret}`);
  }
}

function receive(secret: string, port: number): void {
  createServer(async (request, response) => {
    try {
      const event = await verifyWebhook(Buffer.concat(await request.toArray()), request.headers, secret);
      // Answer first, then work. An event may arrive twice: store the ids that you have handled.
      response.writeHead(204).end();
      console.log(event.type, event.subject.encf);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      response.writeHead(error.status).end(error.message);
    }
  }).listen(port, '127.0.0.1');
}

const [sale = '', webhookUrl] = process.argv.slice(2);
try {
  if (sale === 'receive') receive(process.env.WEBHOOK_SECRET!, Number(process.env.PORT));
  else await main(sale, webhookUrl);
} catch (error) {
  if (!(error instanceof GatewayError)) throw error;
  console.error(error.message);
  for (const fault of error.faults) console.error(`${fault.path}: ${fault.message}`);
  process.exitCode = 1;
}
