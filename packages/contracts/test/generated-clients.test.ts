import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exampleOf } from '../src/api/examples.js';
import { adminOpenApiDocument, openApiDocument, publicEventSchema } from '../src/index.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-clients-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

beforeAll(() => {
  fs.writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(openApiDocument()));
  fs.writeFileSync(path.join(folder, 'admin.json'), JSON.stringify(adminOpenApiDocument()));
});

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`);
  return `${stdout}${stderr}`;
}

/** Compiles files of the folder as a strict user does. */
function compile(...args: readonly string[]): void {
  const tsc = path.join(PACKAGE, '..', '..', 'node_modules', '.bin', 'tsc');
  run(tsc, ['--strict', '--target', 'es2022', '--module', 'nodenext', ...args]);
}

/** What a user of the types writes. Each `expect-error` must be an error. */
const USE = `
import type { components, paths } from './openapi.js';

type Json<P, S extends number, M = 'get'> = M extends keyof P
  ? P[M] extends { responses: Record<S, { content: { 'application/json': infer B } }> } ? B : never
  : never;

const ecf: components['schemas']['Ecf31'] = {
  Encabezado: {
    Version: '1.0',
    IdDoc: { TipoeCF: '31', TipoIngresos: '01', TipoPago: '1' },
    Emisor: { RNCEmisor: '199999991', RazonSocialEmisor: 'Palma', DireccionEmisor: 'Calle 1', FechaEmision: '15-06-2026' },
    Comprador: { RNCComprador: '188888885', RazonSocialComprador: 'Caoba' },
    Totales: { MontoExento: 550, MontoTotal: '550.00' },
  },
  DetallesItems: {
    Item: [
      {
        NumeroLinea: '1',
        IndicadorFacturacion: '4',
        NombreItem: 'Libro',
        IndicadorBienoServicio: '1',
        CantidadItem: 1,
        PrecioUnitarioItem: '550.00',
        MontoItem: 550,
      },
    ],
  },
};
const invoice: components['schemas']['InvoiceDocument'] = { ECF: ecf };
type Ecf31 = components['schemas']['Ecf31'];
export const wrongCodes: Ecf31['Encabezado']['IdDoc'] = {
  // @ts-expect-error it is a type 31
  TipoeCF: '33',
  TipoIngresos: '01',
  // @ts-expect-error there is no such code
  TipoPago: '9',
};
export const wrongParties: Ecf31 = {
  ...ecf,
  Encabezado: {
    ...ecf.Encabezado,
    Emisor: {
      ...ecf.Encabezado.Emisor,
      // @ts-expect-error an RNC is a text
      RNCEmisor: 199999991,
    },
    // @ts-expect-error the buyer of a type 31 has an RNC
    Comprador: { RazonSocialComprador: 'Caoba' },
    Totales: {
      MontoTotal: '550.00',
      // @ts-expect-error no element has this name
      MontoExcento: '550.00',
    },
  },
};
export const wrongLine: Ecf31['DetallesItems']['Item'][number] = {
  NumeroLinea: '1',
  IndicadorFacturacion: '4',
  NombreItem: 'Libro',
  IndicadorBienoServicio: '1',
  CantidadItem: '1',
  PrecioUnitarioItem: '550.00',
  // @ts-expect-error an amount is a text or a number
  MontoItem: true,
};
const form: paths['/fe_Submit']['post']['requestBody']['content']['multipart/form-data'] = { data: invoice };
const body: paths['/fe_Submit']['post']['requestBody']['content']['application/json'] = invoice;
const batch: paths['/batches']['post']['requestBody']['content']['application/json'] = [
  { ...invoice, reference: 'order-1' },
];
// @ts-expect-error an invoice has its root
const rootless: components['schemas']['InvoiceDocument'] = { Encabezado: {} };

type List = Json<paths['/invoices'], 200>;
export function read(list: List, submitted: Json<paths['/fe_Submit'], 200, 'post'>): string {
  const [first] = list.invoices;
  // A page is an object: no union with the text of the CSV.
  const total: number = list.total;
  const amount: string | undefined = first?.total_amount;
  const trackId: string | null | undefined = submitted.trackId;
  return [total, amount, trackId, form, body, batch, rootless].join();
}

type Refused = components['schemas']['ErrorBody'];
export function explain(
  error: Json<paths['/fe_Submit'], 400, 'post'> | Json<paths['/invoices'], 422> | Json<paths['/acecf'], 409, 'post'>,
): string[] {
  const one: Refused = error;
  return [one.message, ...one.faults.map(({ path, severity }) => path + severity), ...one.items.map(({ msg }) => msg)];
}
`;

/** A reader of the feed. `type` decides the form of `data`, without a cast. */
const USE_OF_EVENTS = `
import type { components } from './openapi.js';

type Event = components['schemas']['Event'];

export function tell(event: Event): string {
  switch (event.type) {
    case 'invoice.accepted':
    case 'invoice.rejected':
      return event.data.encf + event.data.status + event.data.total_amount;
    case 'received.refused':
      return event.data.rejection_reason;
    case 'received.accepted':
      // @ts-expect-error only a refused document has a reason
      return event.data.rejection_reason;
    case 'batch.done':
      // @ts-expect-error a batch is not about one document
      return event.data.encf;
    case 'range.low':
    case 'range.expiring':
      return event.data.from + ': ' + event.data.remaining;
    // @ts-expect-error no event has this type
    case 'invoice.made':
      return '';
    default:
      return event.id;
  }
}
const batch: components['schemas']['BatchEvent']['data'] = {} as components['schemas']['Batch'];
export const mixed: Event = {
  id: '1-5c0f31aa',
  type: 'batch.done',
  time: '2026-06-15T10:00:05-04:00',
  env: 'TesteCF',
  subject: { encf: null },
  data: batch,
};
// @ts-expect-error the data of a batch are not those of an invoice
export const wrong: Event = { ...mixed, type: 'invoice.accepted', data: batch };
`;

describe('the types of openapi-typescript', () => {
  it('take a right invoice, and read answers and errors without a cast', async () => {
    const { default: openapiTs, astToString } = await import('openapi-typescript');
    for (const name of ['openapi', 'admin']) {
      const types = astToString(await openapiTs(new URL(`file://${folder}/${name}.json`)));
      const forbidden = types.split('\n').filter((line) => /^ .*Record<string, never>/.test(line));
      expect(forbidden).toEqual([]);
      fs.writeFileSync(path.join(folder, `${name}.ts`), types);
    }
    fs.writeFileSync(path.join(folder, 'use.ts'), USE);
    fs.writeFileSync(path.join(folder, 'events.ts'), USE_OF_EVENTS);
    compile('--noEmit', 'use.ts', 'events.ts', 'admin.ts');
  });
});

const PYTHON_USE = `
import json, sys
from e_cf_gateway_client.api.emission import submit_json
from e_cf_gateway_client.api.invoices import list_invoices
from e_cf_gateway_client.models import ErrorBody, InvoiceDocument, InvoiceList

document = json.load(open("openapi.json"))
ok = document["paths"]["/invoices"]["get"]["responses"]["200"]["content"]["application/json"]["example"]
page = InvoiceList.from_dict(ok)
assert page.invoices[0].total_amount == ok["invoices"][0]["total_amount"]
refused = ErrorBody.from_dict(document["components"]["examples"]["InvalidDocument"]["value"])
assert refused.faults == [] and refused.message
invoice = document["paths"]["/fe_Submit"]["post"]["requestBody"]["content"]["application/json"]["example"]
sent = submit_json._get_kwargs(body=InvoiceDocument.from_dict(invoice))
assert sent["json"] == invoice, sent

def refused_by_type(change):
    wrong = json.loads(json.dumps(invoice))
    change(wrong["ECF"])
    try:
        InvoiceDocument.from_dict(wrong)
    except (KeyError, TypeError, ValueError):
        return True
    return False

wrong_invoices = {
    "the right invoice": lambda ecf: None,
    "a type that does not exist": lambda ecf: ecf["Encabezado"]["IdDoc"].update(TipoeCF="99"),
    "a code that does not exist": lambda ecf: ecf["Encabezado"]["IdDoc"].update(TipoPago="9"),
    "no Encabezado": lambda ecf: ecf.pop("Encabezado"),
    "no name of the issuer": lambda ecf: ecf["Encabezado"]["Emisor"].pop("RazonSocialEmisor"),
}
taken = [name for name, change in wrong_invoices.items() if not refused_by_type(change)]
assert taken == ["the right invoice"], taken
answers = str(list_invoices.sync.__annotations__["return"])
assert "str" not in answers.replace("Struct", ""), answers
`;

/** Each event becomes an object of the class that its type names. */
const PYTHON_USE_OF_EVENTS = `
import json
from e_cf_gateway_client.models import Batch, EventList, Invoice

document = json.load(open("openapi.json"))
kinds = document["components"]["schemas"]["Event"]["discriminator"]["mapping"]
read = EventList.from_dict(json.load(open("events.json"))).events
assert [type(event).__name__ for event in read] == [kinds[event.type_].rsplit("/", 1)[1] for event in read]
assert len({type(event) for event in read}) == len(set(kinds.values())), read
assert all(isinstance(event.data, Invoice) for event in read if event.type_.startswith("invoice."))
assert all(isinstance(event.data, Batch) for event in read if event.type_ == "batch.done")
`;

/** The program where it is installed: `pip install openapi-python-client`, or its path in OPENAPI_PYTHON_CLIENT. */
const generator = process.env.OPENAPI_PYTHON_CLIENT ?? 'openapi-python-client';
const hasGenerator = spawnSync(generator, ['--version']).status === 0;

/** Runs `use.py` in the folder of a generated client. */
function runPython(client: string): void {
  const python = path.join(path.dirname(generator), 'python');
  const { status, stderr } = spawnSync(path.isAbsolute(generator) ? python : 'python3', ['use.py'], {
    cwd: path.join(folder, client),
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
}

describe('the client of openapi-python-client', () => {
  (hasGenerator ? it : it.skip)(
    'sends a right invoice, refuses wrong ones, and reads answers and errors (needs the program openapi-python-client)',
    () => {
      const printed = run(generator, ['generate', '--path', 'openapi.json', '--output-path', 'client', '--overwrite']);
      // It has no type for these media types.
      const others = printed.split('\n').filter((line) => /unsupported content.type/i.test(line));
      expect(
        others.filter((line) => !/application\/(xml|x-ndjson|pdf|schema\+json)|image\/(svg|png|jpeg)/.test(line)),
      ).toEqual([]);
      fs.writeFileSync(
        path.join(folder, 'client', 'use.py'),
        PYTHON_USE.replace('"openapi.json"', '"../openapi.json"'),
      );
      runPython('client');
    },
    120_000,
  );

  (hasGenerator ? it : it.skip)(
    'reads each event as the class that its type names (needs the program openapi-python-client)',
    () => {
      const events = publicEventSchema.options.map((schema) => exampleOf(schema));
      fs.writeFileSync(path.join(folder, 'events.json'), JSON.stringify({ events, next: '1-5c0f31aa' }));
      run(generator, ['generate', '--path', 'openapi.json', '--output-path', 'events-client']);
      const use = PYTHON_USE_OF_EVENTS.replace(/open\("/g, '$&../');
      fs.writeFileSync(path.join(folder, 'events-client', 'use.py'), use);
      runPython('events-client');
    },
    120_000,
  );
});
