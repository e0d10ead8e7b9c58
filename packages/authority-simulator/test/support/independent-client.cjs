/**
 * Drives the npm package `dgii-ecf`, a client that was written for the authority itself and for receivers by its standard, with only
 * the host changed. Arguments: the simulator's address, a .p12 file, its password; or a receiver's address, the same two and the
 * buyer's RNC. Writes what each call answered as one JSON object on the last line.
 */
const client = require('dgii-ecf');
const { restClient } = require('dgii-ecf/dist/networking/restClient');
const [host, p12, password, buyer] = process.argv.slice(2);
const OFFICIAL = /^https:\/\/(ecf|fc|statusecf)\.dgii\.gov\.do/i;

restClient.interceptors.request.use((config) => {
  const base = config.baseURL ?? host;
  return { ...config, baseURL: base.replace(OFFICIAL, host), httpsAgent: undefined };
});

const signedAt = new Date(Date.now() - 4 * 3_600_000 - 60_000).toISOString();
const today = `${signedAt.slice(8, 10)}-${signedAt.slice(5, 7)}-${signedAt.slice(0, 4)}`;
const stamp = `${today} ${signedAt.slice(11, 19)}`;
const sequence = String(Date.now()).slice(-10);
const encf = `E31${sequence}`;

function invoice(encf) {
  const consumer = encf.startsWith('E32');
  return {
    ECF: {
      Encabezado: {
        Version: '1.0',
        IdDoc: {
          TipoeCF: encf.slice(1, 3),
          eNCF: encf,
          ...(consumer ? {} : { FechaVencimientoSecuencia: '31-12-2028' }),
          IndicadorMontoGravado: '0',
          TipoIngresos: '01',
          TipoPago: '1',
        },
        Emisor: {
          RNCEmisor: '131880738',
          RazonSocialEmisor: 'EMISOR & HIJOS',
          DireccionEmisor: 'CALLE 1',
          FechaEmision: today,
        },
        Comprador: { ...(consumer ? {} : { RNCComprador: buyer ?? '131880681' }), RazonSocialComprador: 'COMPRADOR Ñ' },
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
      FechaHoraFirma: stamp,
    },
  };
}

function approval(encf) {
  const fields = `<Version>1.0</Version><RNCEmisor>131880738</RNCEmisor><eNCF>${encf}</eNCF><FechaEmision>${today}</FechaEmision><MontoTotal>1180.00</MontoTotal><RNCComprador>131880681</RNCComprador><Estado>1</Estado><FechaHoraAprobacionComercial>${stamp}</FechaHoraAprobacionComercial>`;
  return `<?xml version="1.0" encoding="utf-8"?><ACECF xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><DetalleAprobacionComercial>${fields}</DetalleAprobacionComercial></ACECF>`;
}

const { P12Reader, Signature, Transformer, convertECF32ToRFCE, getCodeSixDigitfromSignature, ENVIRONMENT } = client;
const keys = new P12Reader(password).getKeyFromFile(p12);
const sender = new client.default(keys, ENVIRONMENT.DEV);
const signature = new Signature(keys.key, keys.cert);
const signed = (encf) => signature.signXml(new Transformer().json2xml(invoice(encf)), 'ECF');

async function callAuthority() {
  const answers = {};
  answers.token = await sender.authenticate();

  const xml = signed(encf);
  answers.sent = await sender.sendElectronicDocument(xml, `131880738${encf}.xml`);
  answers.result = await sender.statusTrackId(answers.sent.trackId);
  answers.trackIds = await sender.trackStatuses('131880738', encf);
  const code = getCodeSixDigitfromSignature(xml);
  answers.state = await sender.inquiryStatus('131880738', encf, '131880681', code);

  const consumer = `E32${sequence}`;
  const summary = convertECF32ToRFCE(signed(consumer));
  answers.summary = await sender.sendSummary(signature.signXml(summary.xml, 'RFCE'), `131880738${consumer}.xml`);
  answers.summaryState = await sender.getSummaryInvoiceInquiry('131880738', consumer, summary.securityCode);

  const signedApproval = signature.signXml(approval(encf), 'ACECF');
  answers.approval = await sender.sendCommercialApproval(signedApproval, `131880681${encf}.xml`);
  answers.directory = await sender.getCustomerDirectory('131880681');

  const delivered = `E31${String(Number(sequence) + 1).padStart(10, '0')}`;
  const { receipt } = await callReceiver(`${host}/testecf/emisorreceptor`, delivered);
  return { ...answers, receipt };
}

async function callReceiver(receiver, number) {
  const token = await sender.authenticate(receiver);
  const receipt = await sender.sendElectronicDocument(signed(number), `131880738${number}.xml`, receiver);
  return { token, receipt };
}

(buyer === undefined ? callAuthority() : callReceiver(host, encf)).then(
  (answers) => console.log(JSON.stringify(answers)),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
