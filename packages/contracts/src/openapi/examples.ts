/** Example values of the document, all of the made-up taxpayers of the sandbox. A test holds each against its schema. */
const ISSUER = '199999991';
const BUYER = '188888885';
const AT = '2026-06-15T10:00:05-04:00';
const SHA256 = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';
const TRACK_ID = 'd2b6e27c-3908-46f3-afaa-2207b9501b4b';
const QR =
  'https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=199999991&RncComprador=188888885&ENCF=E310000000101' +
  '&FechaEmision=15-06-2026&MontoTotal=550.00&FechaFirma=15-06-2026%2010:00:00&CodigoSeguridad=Ab1%2Bcd';
const PERIOD = { issuer_rnc: ISSUER, start_date: '01-06-2026', end_date: '30-06-2026', env: 'TesteCF' };

export const ECF_XML =
  '<?xml version="1.0" encoding="utf-8"?><ECF><Encabezado>...</Encabezado><Signature xmlns="http://www.w3.org/2000/09/xmldsig#">...</Signature></ECF>';
export const ARECF_XML =
  '<?xml version="1.0" encoding="utf-8"?><ARECF><DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>199999991</RNCEmisor><RNCComprador>188888885</RNCComprador><eNCF>E310000000101</eNCF><Estado>0</Estado><FechaHoraAcuseRecibo>15-06-2026 10:00:05</FechaHoraAcuseRecibo></DetalleAcusedeRecibo><Signature xmlns="http://www.w3.org/2000/09/xmldsig#">...</Signature></ARECF>';
export const SEED_XML =
  '<?xml version="1.0" encoding="utf-8"?><SemillaModel><valor>...</valor><fecha>2026-06-15T10:00:05.000-04:00</fecha></SemillaModel>';
export const ANECF_XML = '<?xml version="1.0" encoding="utf-8"?><ANECF>...</ANECF>';
export const ACECF_XML = '<?xml version="1.0" encoding="utf-8"?><ACECF>...</ACECF>';

const document = {
  status: 'Aceptado',
  messages: [],
  encf: 'E310000000101',
  qr_url: QR,
  security_code: 'Ab1+cd',
  signature_datetime: '2026-06-15 10:00:00',
  sequence_used: true,
  warnings: [],
};

const doubtful = {
  id: 7,
  env: 'TesteCF',
  issuer_rnc: ISSUER,
  account_id: '1',
  authority_status: 'submitted',
  alarm: 'cancellation-open',
  total_encf_canceled: 10,
  numbers: 'E310000000201 to E310000000210',
  authority_response: '{"codigo":"2"}',
  created_at: AT,
  settled_at: null,
  note: null,
};

export const invoiceData = {
  ECF: {
    Encabezado: {
      Version: '1.0',
      IdDoc: {
        TipoeCF: '31',
        eNCF: 'E310000000101',
        FechaVencimientoSecuencia: '31-12-2028',
        TipoIngresos: '01',
        TipoPago: '1',
      },
      Emisor: {
        RNCEmisor: ISSUER,
        RazonSocialEmisor: 'Comercial Palma Ficticia, SRL',
        DireccionEmisor: 'Calle Ejemplo 12, Ensanche Muestra',
        FechaEmision: '15-06-2026',
      },
      Comprador: { RNCComprador: BUYER, RazonSocialComprador: 'Taller Caoba Imaginario, SRL' },
      Totales: { MontoExento: '550.00', MontoTotal: '550.00' },
    },
    DetallesItems: {
      Item: [
        {
          NumeroLinea: '1',
          IndicadorFacturacion: '4',
          NombreItem: 'Libro de contabilidad',
          IndicadorBienoServicio: '1',
          CantidadItem: '1.00',
          PrecioUnitarioItem: '550.0000',
          MontoItem: '550.00',
        },
      ],
    },
  },
};

/** As it is read back. */
export const signedInvoiceData = { ECF: { ...invoiceData.ECF, FechaHoraFirma: '15-06-2026 10:00:00' } };

const invoice = {
  id: 1,
  encf: 'E310000000101',
  ecf_type: '31',
  env: 'TesteCF',
  run: 1,
  superseded: false,
  issuer_rnc: ISSUER,
  buyer_rnc: BUYER,
  buyer_name: 'Taller Caoba Imaginario, SRL',
  date_issued: '2026-06-15',
  created_at: AT,
  signed_at: AT,
  total_amount: '550.00',
  total_itbis: '0.00',
  status: 'Aceptado',
  code: '1',
  messages: [],
  track_id: TRACK_ID,
  security_code: 'Ab1+cd',
  qr_url: QR,
  route: 'ecf',
  sequence_used: true,
  delivery_status: 'delivered',
  approval_status: 'pending',
  approval_confirmed: false,
  xml_storage_path: 'TesteCF/ecf/199999991/issued/2026/06/199999991E310000000101-b94d27b9934d.xml',
  xml_checksum: SHA256,
  modified_encf: null,
  reference: 'order-4711',
  submitted_by: '7f1e2d3c-4b5a-4968-8776-655443322110',
  request_id: 'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3',
};

const submission = {
  track_id: TRACK_ID,
  attempt: 1,
  submitted_at: AT,
  status: 'Aceptado',
  code: '1',
  messages: [],
  sequence_used: true,
  date_received: AT,
  final: true,
};
const trackIds = { encf: 'E310000000101', issuer_rnc: ISSUER, env: 'TesteCF', count: 1 };

const signer = {
  subject: 'C=DO, serialNumber=IDCDO-00100000009, CN=Representante de Comercial Palma',
  serial_number: '4AD85B78BB78229581B7B5CDD8A4F424',
  issuer: 'C=DO, CN=Autoridad de ejemplo',
  fingerprint: SHA256,
  trusted: true,
  known: true,
};
const received = {
  id: 1,
  encf: 'E310000000101',
  ecf_type: '31',
  date_received: AT,
  date_issued: '2026-06-15T00:00:00-04:00',
  total_amount: 550,
  provider_rnc: ISSUER,
  provider_name: 'Comercial Palma Ficticia, SRL',
  buyer_rnc: BUYER,
  xml_storage_path: 'TesteCF/ecf/188888885/received/2026/06/199999991E310000000101-b94d27b9934d.xml',
  signer,
  authority_status: 'confirmed',
  authority_checked_at: AT,
  approval_status: 'pending',
  approval_confirmed: false,
  approval_datetime: null,
  warnings: [],
  conflicts: [],
  conflicts_unkept: [],
  conflicts_total: 0,
};
const receivedPeriod = { start_date: '01-06-2026', end_date: '30-06-2026', env: 'TesteCF', buyer_rnc: BUYER };

const approvalRequest = {
  issuer_rnc: ISSUER,
  receiver_rnc: BUYER,
  encf: 'E310000000101',
  approval_status: 1,
  approval_datetime: AT,
  authority_environment: 'TesteCF',
  invoice_date_issued: '2026-06-15',
  invoice_total_amount: '550.00',
};

const batch = {
  batch_id: '1',
  status: 'done',
  validate: false,
  total: 3,
  pending: 0,
  accepted: 2,
  conditional: 0,
  rejected: 0,
  in_process: 0,
  refused: 1,
  created_at: '2026-06-01T10:00:00-04:00',
  finished_at: '2026-06-01T10:00:09-04:00',
};

const CONFLICT =
  'The document stored as E310000000002 in TesteCF is safe: it is accepted (Aceptado). This one was not submitted, because it differs: ECF.Encabezado.Totales.MontoTotal is "11430.00" in the stored document and "11500.00" in this one. If this is the same sale, nothing is left to do. Use another number only for another sale.';

const batchResult = {
  line: 2,
  encf: 'E310000000002',
  issuer_rnc: '199999991',
  reference: 'order-4711',
  status: null,
  code: null,
  track_id: null,
  security_code: null,
  qr_url: null,
  messages: [CONFLICT],
  faults: [],
  warnings: [],
  sequence_used: null,
  error: {
    status: 409,
    code: 'encf_already_used',
    message: CONFLICT,
    items: [],
    detail: CONFLICT,
  },
};

const cancellationRequest = {
  issuer_rnc: ISSUER,
  authority_environment: 'TesteCF',
  detail_lines: [
    {
      line_number: 1,
      ecf_type: '31',
      sequence_ranges: [{ encf_desde: 'E310000000201', encf_hasta: 'E310000000210' }],
    },
  ],
};

const aggregate = { count: 1, total_amount: '550.00', total_itbis: '0.00' };
const account = { id: '2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e', name: 'Palma', active: true, created_at: AT };
const certificate = {
  subject: 'CN=Representante de Palma, serialNumber=00100000009',
  serial_number: '3f2a',
  not_before: AT,
  not_after: '2027-06-15T10:00:05-04:00',
  fingerprint: SHA256,
};
const range = {
  env: 'TesteCF',
  ecf_type: '31',
  from: 'E310000000001',
  to: 'E310000001000',
  expires: '2028-12-31',
};
const newApiKey = {
  name: 'erp',
  environments: ['TesteCF', 'CerteCF'],
  scopes: ['submit', 'read'],
  taxpayers: [ISSUER],
  expires_at: '2027-06-30T00:00:00-04:00',
  refuse_warnings: false,
};
const apiKey = {
  id: '7f1e2d3c-4b5a-4968-8776-655443322110',
  ...newApiKey,
  hint: 'ecf_test_Ab',
  created_at: AT,
  last_used_at: AT,
  revoked_at: null,
};

const auditEntry = {
  seq: 1,
  at: AT,
  actor: 'Ana',
  action: 'api_key.create',
  target: `/accounts/${account.id}/api-keys/${apiKey.id}`,
  details: { name: 'erp', environments: ['TesteCF'] },
  request_id: 'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3',
  previous_hash: '0'.repeat(64),
  hash: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
};

const deliveryName = { env: 'TesteCF', issuer_rnc: ISSUER, encf: 'E310000000101' };
const delivery = {
  id: 1,
  ...deliveryName,
  buyer_rnc: BUYER,
  account_id: account.id,
  delivery_status: 'failed',
  tries: 7,
  last_error: 'no answer within 30 s',
  created_at: AT,
  due_at: null,
  deadline_at: '2026-06-18T10:00:05-04:00',
};

const undecided = {
  id: 7,
  ...deliveryName,
  receiver_rnc: BUYER,
  account_id: account.id,
  approval_status: 1,
  authority_submission_status: 'submitted',
  tries: 41,
  authority_response: '<html><body>ERROR</body></html>',
  issuer_delivery_status: 'no_receiver',
  issuer_tries: 3,
  issuer_delivery_error: null,
  submitted_at: AT,
  settled_at: null,
  note: null,
};

const knownSigner = {
  subject: 'CN=ANA PEREZ, serialNumber=IDCDO-00100000001',
  serial_number: '4F1C22B0A7',
  issuer: 'CN=AUTORIDAD CERTIFICADORA, C=DO',
  fingerprint: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  trusted: true,
  known: true,
};
const strangersAnswer = {
  id: 11,
  approval_status: 'rejected',
  rejection_reason: 'Bienes o servicios no recibidos',
  received_at: AT,
  signer: { ...knownSigner, subject: 'CN=X', issuer: 'CN=X', serial_number: '01', trusted: false, known: false },
  confirmed: false,
  counts: false,
};
const confirmedAnswer = {
  approval_status: 'approved',
  rejection_reason: null,
  signer: knownSigner,
  confirmed: true,
  counts: true,
};

const webhook = {
  id: '0c9d1f7e-62b3-4f0c-8f5e-5f1c8e2a7b10',
  url: 'https://erp.example.do/events',
  types: ['invoice.accepted', 'invoice.rejected'],
  environments: ['TesteCF', 'CerteCF', 'eCF'],
  active: true,
};

export const EXAMPLES = {
  webhook: { ...webhook, created_at: AT, last_success_at: AT, failing_since: null, pending: 0, dropped: 0 },
  createdWebhook: { ...webhook, secret: 'whsec_...' },
  eventList: {
    events: [
      {
        id: '1-5c0f31aa',
        type: 'invoice.accepted',
        time: AT,
        env: 'TesteCF',
        subject: { issuer_rnc: ISSUER, encf: 'E310000000101' },
        data: invoice,
      },
    ],
    next: '1-5c0f31aa',
  },
  alarmedPage: {
    documents: [
      {
        env: 'CerteCF',
        issuer_rnc: ISSUER,
        encf: 'E310000000101',
        run: 1,
        account_id: account.id,
        state: 'unknown',
        alarm: 'no-query',
        committed_at: AT,
      },
    ],
    next: null,
  },
  resolution: { env: 'CerteCF', issuer_rnc: ISSUER, encf: 'E310000000101', action: 'adopt', track_id: TRACK_ID },
  newRun: { env: 'CerteCF', reason: 'E320000000006 was rejected; the authority restarted the set' },
  startedRun: { run: 2, env: 'CerteCF', started_at: '2026-06-15T16:40:00-04:00', superseded: 25 },
  resolved: {
    env: 'CerteCF',
    issuer_rnc: ISSUER,
    encf: 'E310000000101',
    state: 'processing',
    status: 'EnProceso',
    track_id: TRACK_ID,
    adopted: true,
    resent: false,
  },
  doubtfulPage: { cancellations: [doubtful], next: null },
  settlement: { id: 7, outcome: 'accepted', note: 'The portal shows all of them as annulled.' },
  settled: {
    ...doubtful,
    authority_status: 'Aceptado',
    alarm: null,
    settled_at: AT,
    note: 'The portal shows all of them as annulled.',
  },
  undecidedPage: { approvals: [undecided], next: null },
  approvalSettlement: { id: 7, outcome: 'accepted', note: 'The portal shows it.' },
  settledApproval: {
    ...undecided,
    authority_submission_status: 'Aceptado',
    settled_at: AT,
    note: 'The portal shows it.',
  },
  retriedApproval: { ...undecided, issuer_delivery_status: 'pending' },
  rebuild: { building: true, started_at: AT, finished_at: null, documents: 12_000, failure: null },
  masterKeys: {
    key_id: '5f0c2a91',
    services: [
      {
        service: 'emission',
        older: 3,
        instances: [{ id: '0b6f4c1e-8d0a-4f5b-9f3e-2f1d7c9a6e54', key_ids: ['5f0c2a91', 'c4d18e07'], seen_at: AT }],
      },
    ],
  },
  storedFiles: {
    files: [
      {
        path: `TesteCF/ecf/${ISSUER}/issued/2026/06/${ISSUER}E310000000101-0f2b1c3d4e5f.xml`,
        sha256: '0f2b1c3d4e5f60718293a4b5c6d7e8f90f2b1c3d4e5f60718293a4b5c6d7e8f9',
        pending: false,
      },
    ],
    next: 'attempt:1:1',
  },
  deliveryName,
  delivery,
  deliveryPage: { deliveries: [delivery], next: null },
  token: { token: 'eyJhbGciOi...', expires_in: 3600, token_type: 'Bearer', expires_at: '2026-06-15T11:00:05-04:00' },
  invoiceStatus: {
    track_id: TRACK_ID,
    status: 'Aceptado',
    code: '1',
    rnc: ISSUER,
    date_received: AT,
    messages: [],
  },
  monitoring: {
    env: 'TesteCF',
    available: true,
    services: [{ service: 'Autenticación', status: 'available', environment: 'TesteCF' }],
    maintenance_windows: [{ environment: 'TesteCF', start_time: '00:00', end_time: '02:00', days: ['Domingo'] }],
    checked_at: AT,
  },
  invoice,
  invoiceList: { count: 1, total: 1, ...PERIOD, limit: 200, offset: 0, next_cursor: null, invoices: [invoice] },
  invoiceCount: { ...PERIOD, total_invoices: 1 },
  invoiceAggregate: {
    ...PERIOD,
    total_invoices: 1,
    counted: 1,
    total_amount: '550.00',
    total_itbis: '0.00',
    by_month: [{ month: '2026-06', ...aggregate }],
    by_type: [{ ecf_type: '31', ...aggregate }],
    by_status: [{ status: 'Aceptado', count: 1, total_amount: '550.00' }],
    top_clients: [{ buyer_rnc: BUYER, buyer_name: 'Taller Caoba Imaginario, SRL', count: 1, total_amount: '550.00' }],
  },
  trackIds: { ...trackIds, track_ids: [submission] },
  rawTrackIds: {
    ...trackIds,
    track_ids: [
      {
        ...submission,
        raw: [
          {
            operation: 'submitDocument',
            at: AT,
            outcome: 'verdict',
            http_status: 200,
            content_type: 'application/json',
            body: `{"trackId":"${TRACK_ID}"}`,
          },
        ],
      },
    ],
  },
  consumption: {
    rnc: ISSUER,
    encf: 'E320000000001',
    status: 'Aceptado',
    code: '1',
    messages: [],
    sequence_used: true,
  },
  submission: { ...document, xml: ECF_XML, trackId: TRACK_ID },
  signedSubmission: { ...document, trackId: TRACK_ID },
  summarySubmission: { ...document, encf: 'E320000000001' },
  xmlItem: { xml: ECF_XML },
  batchReceipt: { batch_id: '1', total: 3, status_url: '/batches/1' },
  batch,
  batchList: { count: 1, next: null, batches: [batch] },
  batchResults: { count: 1, next: null, results: [batchResult] },
  cancellationRequest,
  cancellation: {
    id: 1,
    version: '1.0',
    issuer_rnc: ISSUER,
    total_encf_canceled: 10,
    generation_datetime: AT,
    authority_environment: 'TesteCF',
    cancellation_reason: null,
    detail_lines: [
      {
        id: 1,
        line_number: 1,
        ecf_type: '31',
        total_encf_canceled: 10,
        sequence_ranges: [
          {
            id: 1,
            encf_desde: 'E310000000201',
            encf_hasta: 'E310000000210',
            quantity_canceled: 10,
            authority_status: 'Aceptado',
          },
        ],
      },
    ],
    sent_to_authority: true,
    sent_at: AT,
    authority_status: 'Aceptado',
    authority_response: '{"codigo":"1"}',
    xml_storage_path: 'TesteCF/anecf/199999991/issued/2026/06/199999991-b94d27b9934d.xml',
    xml_checksum: SHA256,
    xml_schema_version: '1.0',
    created_at: AT,
    created_by: '7f1e2d3c-4b5a-4968-8776-655443322110',
  },
  approvalRequest,
  approval: {
    id: 1,
    ecf_document_id: 1,
    version: '1.0',
    rejection_code: null,
    rejection_description: null,
    ...approvalRequest,
    xml_storage_path: 'TesteCF/acecf/188888885/issued/2026/06/188888885E310000000101-b94d27b9934d.xml',
    xml_checksum: SHA256,
    xml_schema_version: '1.0',
    sent_to_authority: true,
    sent_to_authority_at: AT,
    authority_submission_status: 'Aceptado',
    authority_response: '{"codigo":"1"}',
    sent_to_issuer: true,
    sent_to_issuer_at: AT,
    issuer_delivery_status: 'delivered',
    issuer_delivery_error: null,
    warnings: [],
    superseded: false,
    created_at: AT,
    created_by: '7f1e2d3c-4b5a-4968-8776-655443322110',
  },
  received,
  receivedList: {
    count: 1,
    total: 1,
    provider_rnc: ISSUER,
    ...receivedPeriod,
    limit: 200,
    offset: 0,
    next_cursor: null,
    invoices: [received],
  },
  allReceived: {
    count: 1,
    total: 1,
    ...receivedPeriod,
    limit: 200,
    offset: 0,
    next_cursor: null,
    invoices: [received],
  },
  receivedCount: { ...receivedPeriod, total_invoices: 1, total_amount: '550.00' },
  receivedAggregate: {
    ...receivedPeriod,
    total_invoices: 1,
    counted: 1,
    total_amount: '550.00',
    total_itbis: '0.00',
    by_month: [{ month: '2026-06', ...aggregate }],
    by_type: [{ ecf_type: '31', ...aggregate }],
    by_status: [{ status: 'pending', count: 1, total_amount: '550.00' }],
    top_providers: [
      { provider_rnc: ISSUER, provider_name: 'Comercial Palma Ficticia, SRL', count: 1, total_amount: '550.00' },
    ],
  },
  contingencyList: {
    count: 1,
    total: 1,
    next: null,
    documents: [{ encf: 'E310000000101', issuer_rnc: ISSUER, env: 'TesteCF', signed_at: AT, deadline: null }],
  },
  approvalAccepted: { codigo: '1', estado: 'Aprobacion Comercial Aceptada', mensaje: [] },
  approvalRefused: {
    codigo: '2',
    estado: 'Aprobacion Comercial Rechazada',
    mensaje: ['MontoTotal is not the amount of the e-CF.'],
  },
  receivedApproval: {
    encf: 'E310000000101',
    issuer_rnc: ISSUER,
    buyer_rnc: BUYER,
    approval_status: 'approved',
    approval_confirmed: true,
    approval_datetime: AT,
    rejection_reason: null,
    signer: knownSigner,
  },
  approvalAnswers: { count: 2, answers: [strangersAnswer, { ...strangersAnswer, id: 12, ...confirmedAnswer }] },
  approvalRuling: { counts: false, reason: 'The buyer says that it sent no rejection.' },
  ruledAnswer: { ...strangersAnswer, id: '11' },
  acknowledgement: {
    id: 1,
    issuer_rnc: ISSUER,
    buyer_rnc: BUYER,
    encf: 'E310000000101',
    env: 'TesteCF',
    receipt_status: 0,
    rejection_code: null,
    rejection_reason: null,
    acknowledged_at: AT,
    received_at: AT,
    valid: true,
    validation_error: null,
    xml_storage_path: 'TesteCF/arecf/199999991/received/2026/06/188888885E310000000101-b94d27b9934d.xml',
    xml_checksum: SHA256,
    receiver: 'https://ecf.buyer.example',
    signer: knownSigner,
  },
  directoryEntry: {
    rnc: BUYER,
    name: 'Taller Caoba Imaginario, SRL',
    reception_url: 'https://ecf.caoba-imaginario.example/fe/recepcion/api/ecf',
    approval_url: 'https://ecf.caoba-imaginario.example/fe/aprobacioncomercial/api/ecf',
    authentication_url: null,
  },
  providerToken: { token: 'eyJhbGciOi...', expira: '2026-06-15T15:00:05Z', expedido: '2026-06-15T14:00:05Z' },
  account,
  certificate,
  range,
  taxpayer: {
    rnc: ISSUER,
    name: 'Comercial Palma Ficticia, SRL',
    active: true,
    created_at: AT,
    certificate,
    ranges: [range],
  },
  ownAccount: {
    account: { id: account.id, name: account.name },
    key: { id: apiKey.id, name: apiKey.name, expires_at: apiKey.expires_at },
    environments: apiKey.environments,
    scopes: apiKey.scopes,
    total_taxpayers: 1,
    taxpayers: [
      {
        rnc: ISSUER,
        name: 'Comercial Palma Ficticia, SRL',
        active: true,
        certificate_not_after: certificate.not_after,
        ranges: [{ ...range, next: 'E310000000042', remaining: 959 }],
      },
    ],
  },
  auditEntry,
  auditPage: { entries: [auditEntry], next: null },
  newAdministrator: { name: 'Ana', role: 'operator', expires_at: '2027-06-30T00:00:00-04:00' },
  createdAdministrator: { id: '5d4c3b2a-1908-4f7e-8d6c-5b4a39281706', token: 'ecf_admin_...' },
  administrator: {
    id: '5d4c3b2a-1908-4f7e-8d6c-5b4a39281706',
    name: 'Ana',
    role: 'operator',
    created_at: AT,
    expires_at: '2027-06-30T00:00:00-04:00',
  },
  apiKey,
  newApiKey,
  createdApiKey: { id: apiKey.id, key: 'ecf_test_...', ...newApiKey },
  rotatedApiKey: { id: '0b9a8c7d-6e5f-4a3b-9c2d-1e0f9a8b7c6d', key: 'ecf_test_...' },
  service: {
    name: 'ecf-gateway',
    version: '0.1.0',
    interface_version: '3.0',
    environments: ['TesteCF', 'CerteCF', 'eCF'],
    openapi: '/openapi.json',
    docs: '/docs',
    errors: '/errors',
    health: { live: '/health/live', ready: '/health/ready' },
  },
  errorEntry: {
    code: 'rate_limited',
    status: 429,
    retry_after: 1,
    meaning: 'More requests a second than the limit allows.',
    remedy: 'Wait for Retry-After and repeat.',
  },
} as const;
