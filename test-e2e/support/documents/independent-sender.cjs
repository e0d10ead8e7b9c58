/**
 * Drives the npm package `dgii-ecf`, a client that was written for the authority itself and for receivers by its standard,
 * against a receiver. Arguments: the receiver's address, a .p12 file, its password, the buyer's RNC. Writes what each call answered as one JSON object on the last line.
 */
const client = require('dgii-ecf');

const [receiver, p12, password, buyer] = process.argv.slice(2);

const signedAt = new Date(Date.now() - 4 * 3_600_000 - 60_000).toISOString();
const today = `${signedAt.slice(8, 10)}-${signedAt.slice(5, 7)}-${signedAt.slice(0, 4)}`;
const issuer = '131880738';
const encf = `E31${String(Date.now()).slice(-10)}`;

const invoice = {
  ECF: {
    Encabezado: {
      Version: '1.0',
      IdDoc: {
        TipoeCF: '31',
        eNCF: encf,
        FechaVencimientoSecuencia: '31-12-2028',
        IndicadorMontoGravado: '0',
        TipoIngresos: '01',
        TipoPago: '1',
      },
      Emisor: {
        RNCEmisor: issuer,
        RazonSocialEmisor: 'EMISOR & HIJOS',
        DireccionEmisor: 'CALLE 1',
        FechaEmision: today,
      },
      Comprador: { RNCComprador: buyer, RazonSocialComprador: 'COMPRADOR Ñ' },
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
      Item: {
        NumeroLinea: '1',
        IndicadorFacturacion: '1',
        NombreItem: 'PRODUCTO',
        IndicadorBienoServicio: '1',
        CantidadItem: '1.00',
        PrecioUnitarioItem: '1000.0000',
        MontoItem: '1000.00',
      },
    },
    FechaHoraFirma: `${today} ${signedAt.slice(11, 19)}`,
  },
};

async function main() {
  const { P12Reader, Signature, Transformer, ENVIRONMENT } = client;
  const keys = new P12Reader(password).getKeyFromFile(p12);
  const sender = new client.default(keys, ENVIRONMENT.DEV);
  const signed = new Signature(keys.key, keys.cert).signXml(new Transformer().json2xml(invoice), 'ECF');
  const token = await sender.authenticate(receiver);
  const receipt = await sender.sendElectronicDocument(signed, `${issuer}${encf}.xml`, receiver);
  console.log(JSON.stringify({ token, receipt }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
