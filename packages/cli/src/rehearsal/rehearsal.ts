import { setTimeout as delay } from 'node:timers/promises';
import type { Judge } from '@ecf/authority-simulator/judge';
import type { Approval, AuthorityMessage, Invoice } from '@ecf/contracts';
import { type EcfType, type Environment, formatDocumentDate, groupOf, textOf } from '@ecf/domain';
import { parseXml, readXml, XmlRefused } from '@ecf/ecf-xml';
import { CallRefused, type GatewayCalls, json } from '../gateway-calls.js';
import { documentsFor, type Issuer, type RehearsedDocument, TO_ITSELF } from './documents.js';
import { differences, type Opinion, opinion, type RulesOpinion, rulesOpinion, simulatorOpinion } from './opinions.js';

/** A signed document that was sent. */
export interface SentDocument {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** A row of the result. */
export interface Row {
  readonly document: string;
  readonly encf: string | null;
  readonly result: 'agrees' | 'differs' | 'not compared';
  /** Why it differs or could not be compared, as sentences without a stop. */
  readonly reasons: readonly string[];
  /** The authority's answer; null if there is none. */
  readonly authority: Opinion | null;
  /** The acknowledgement (ARECF) of a delivery: whether its receiver took the document. Null for other rows. */
  readonly receipt: 'received' | 'refused' | null;
  readonly rules: RulesOpinion | null;
  readonly simulator: Opinion | null;
  readonly sent: readonly SentDocument[];
  /** The authority's answers, unchanged. */
  readonly answers: unknown;
}

/** What a rehearsal needs. */
export interface Rehearsal {
  readonly calls: GatewayCalls;
  readonly judge: Judge;
  /** Names the rehearsal at the gateway: the reference of its documents and the start of their idempotency keys. */
  readonly id: string;
  readonly env: Environment;
  readonly issuer: Issuer;
  readonly types: ReadonlySet<EcfType>;
  /** How long the rehearsal waits for each decision, in milliseconds. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly clock: () => Date;
  /** Called with each number, as soon as it is used. */
  readonly onNumber: (encf: string) => void;
  readonly say: (text: string) => void;
}

/** `codigo` of an approval that the authority refuses. */
const REFUSED_APPROVAL = '02';
const POLL_MS = 500;
const LONGEST_POLL_MS = 5_000;

const NOTHING = { encf: null, authority: null, receipt: null, rules: null, simulator: null, sent: [], answers: null };

/** A document that was submitted: its number, or why the gateway refused it. */
type Submitted = { readonly encf: string } | { readonly refusal: string };

/**
 * Submits the documents, follows them to their end and compares the answers: first the documents without a reference, then the notes,
 * then the delivery and the approval of the document to the issuer itself.
 *
 * @throws UsageError if the gateway cannot be reached
 */
export async function* rehearse(rehearsal: Rehearsal): AsyncGenerator<Row> {
  const documents = documentsFor(rehearsal.types);
  const accepted = new Map<string, Invoice>();
  yield* submitAll(
    rehearsal,
    documents.filter(({ isNote }) => !isNote),
    accepted,
  );
  const notes = documents.filter(({ isNote }) => isNote);
  if (accepted.has('31')) yield* submitAll(rehearsal, notes, accepted);
  else
    for (const { name } of notes) yield notCompared(name, 'not sent, because the 31 that it modifies was not accepted');
  if (rehearsal.types.has('31')) yield* exchange(rehearsal, accepted.get(TO_ITSELF) ?? null);
}

/** Submits documents one after the other, then follows each to its end. Adds the accepted ones to the map, by name. */
async function* submitAll(
  rehearsal: Rehearsal,
  documents: readonly RehearsedDocument[],
  accepted: Map<string, Invoice>,
): AsyncGenerator<Row> {
  const submitted: [name: string, answer: Submitted][] = [];
  for (const document of documents) {
    const answer = await submit(rehearsal, document, accepted.get('31') ?? null);
    if ('encf' in answer) rehearsal.say(`${document.name}: submitted as ${answer.encf}`);
    submitted.push([document.name, answer]);
  }
  for (const [name, answer] of submitted) {
    if ('refusal' in answer) {
      yield notCompared(name, answer.refusal);
      continue;
    }
    const invoice = await decided(rehearsal, name, answer.encf);
    if (invoice.status.startsWith('Aceptado')) accepted.set(name, invoice);
    yield await compared(rehearsal, name, invoice);
  }
}

/** Delivery and approval of the document to the issuer itself; null if it was not accepted. */
async function* exchange(rehearsal: Rehearsal, toItself: Invoice | null): AsyncGenerator<Row> {
  if (toItself !== null) {
    yield await delivery(rehearsal, toItself);
    yield await approval(rehearsal, toItself);
    return;
  }
  const reason = `not possible, because ${TO_ITSELF} was not accepted`;
  yield notCompared('delivery', reason);
  yield notCompared('approval', reason);
}

function notCompared(document: string, reason: string, more: Partial<Row> = {}): Row {
  return { ...NOTHING, ...more, document, result: 'not compared', reasons: [reason] };
}

async function submit(
  { calls, id, issuer, clock, onNumber }: Rehearsal,
  document: RehearsedDocument,
  modified: Invoice | null,
): Promise<Submitted> {
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': `${id} ${document.name}`,
    'x-reference': id,
  };
  const reference = modified && { encf: modified.encf, date: formatDocumentDate(modified.date_issued) };
  const body = JSON.stringify(document.build(issuer, clock(), reference));
  try {
    const { encf } = await calls.request('/fe_Submit', json<{ encf: string }>('encf'), {
      method: 'POST',
      headers,
      body,
    });
    onNumber(encf);
    return { encf };
  } catch (error) {
    if (error instanceof CallRefused) return { refusal: refusalOf(error) };
    throw error;
  }
}

/** The sentence of a refusal with its faults. */
function refusalOf({ reason, body }: CallRefused): string {
  const { faults = [] } = parsedOrEmpty(body);
  return [reason, ...faults.map(({ path, message }) => `${path}: ${message}`)].join('; ').replace(/\.$/, '');
}

function parsedOrEmpty(body: string): { faults?: { path: string; message: string }[] } {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}

/** Repeats a query until its result is final, at most for the rehearsal's time; the last result. */
async function follow<Result>(
  { waitMs, signal, clock, say }: Rehearsal,
  what: string,
  query: () => Promise<Result>,
  isFinal: (result: Result) => boolean,
): Promise<Result> {
  const end = clock().getTime() + waitMs;
  for (let pause = POLL_MS; ; pause = Math.min(2 * pause, LONGEST_POLL_MS)) {
    const result = await query();
    if (isFinal(result) || clock().getTime() + pause > end) return result;
    if (pause === POLL_MS) say(`${what}: waiting for the answer`);
    await delay(pause, undefined, { signal });
  }
}

function invoiceOf({ calls, issuer }: Rehearsal, encf: string): Promise<Invoice> {
  return calls.request(`/invoices/${encf}`, json<Invoice>('status', 'route'), {
    headers: { 'rnc-issuing': issuer.rnc },
  });
}

/** The invoice with the authority's decision; `EnProceso` if there is none in time. */
function decided(rehearsal: Rehearsal, document: string, encf: string): Promise<Invoice> {
  return follow(
    rehearsal,
    document,
    () => invoiceOf(rehearsal, encf),
    ({ status }) => status !== 'EnProceso',
  );
}

async function compared(rehearsal: Rehearsal, document: string, invoice: Invoice): Promise<Row> {
  const { calls, judge, env, issuer, clock } = rehearsal;
  const { encf, route, status, messages, sequence_used } = invoice;
  const filename = `${issuer.rnc}${encf}.xml`;
  const sent = [{ filename, bytes: await bytesOf(calls, `/${encf}/xml?issuer_rnc=${issuer.rnc}`) }];
  if (route === 'rfce')
    sent.unshift({ filename, bytes: await bytesOf(calls, `/${encf}/xml?issuer_rnc=${issuer.rnc}&document=rfce`) });
  const rules = rulesOpinion(
    sent.map(({ bytes }) => bytes),
    clock(),
  );
  const operation = route === 'rfce' ? 'recepcionfc' : 'recepcion';
  const simulator = await simulatorOpinion(judge, { operation, env, ...(sent[0] as SentDocument) });
  const headers = { 'rnc-issuing': issuer.rnc };
  const answers = await calls.request(`/trackids/${encf}/raw`, json<{ track_ids: unknown }>('track_ids'), { headers });
  const known = { encf, rules, simulator, sent, answers: answers.track_ids };
  if (status === 'EnProceso' || status === 'No encontrado') {
    const why = messages.map(({ valor }) => valor).join(' ');
    return notCompared(document, `the authority has not decided in time${why === '' ? '' : `: ${why}`}`, known);
  }
  const authority = opinion(status, messages, sequence_used);
  return judged(document, differences(authority, rules, simulator), { ...known, authority });
}

function judged(document: string, reasons: readonly string[], known: Partial<Row>): Row {
  return { ...NOTHING, ...known, document, result: reasons.length === 0 ? 'agrees' : 'differs', reasons };
}

async function bytesOf(calls: GatewayCalls, path: string): Promise<Buffer> {
  return calls.request(path, async (answer) => Buffer.from(await answer.arrayBuffer()));
}

/**
 * The delivery: by the gateway, if the directory lists the issuer; else as another sender delivers it, to the gateway's own
 * reception.
 */
async function delivery(rehearsal: Rehearsal, { encf }: Invoice): Promise<Row> {
  const { calls, env, issuer, clock } = rehearsal;
  const { delivery_status } = await follow(
    rehearsal,
    'delivery',
    () => invoiceOf(rehearsal, encf),
    (invoice) => !['pending', 'unacknowledged'].includes(invoice.delivery_status),
  );
  let bytes: Buffer;
  try {
    if (delivery_status === 'no_receiver') {
      const form = new FormData();
      const xml = await bytesOf(calls, `/${encf}/xml?issuer_rnc=${issuer.rnc}`);
      form.set('xml', new Blob([new Uint8Array(xml)], { type: 'text/xml' }), `${issuer.rnc}${encf}.xml`);
      const path = `/${env.toLowerCase()}/fe/recepcion/api/ecf`;
      const read = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
      bytes = await calls.request(path, read, { method: 'POST', body: form });
    } else if (['delivered', 'refused'].includes(delivery_status)) {
      bytes = await bytesOf(calls, `/received-arecf/${encf}/xml?issuer_rnc=${issuer.rnc}`);
    } else return notCompared('delivery', `the delivery is ${delivery_status}; see ecf deliveries list`, { encf });
  } catch (error) {
    if (error instanceof CallRefused) return notCompared('delivery', refusalOf(error), { encf });
    throw error;
  }
  const rules = rulesOpinion([bytes], clock());
  const sent = [{ filename: `${issuer.rnc}${encf}.xml`, bytes }];
  const motive = motiveOf(bytes);
  const reasons = [
    ...(motive === null ? [] : [`its receiver refuses it, motive ${motive}`]),
    ...(rules.valid ? [] : ['our rules find faults in the acknowledgement']),
  ];
  return judged('delivery', reasons, { encf, rules, receipt: motive === null ? 'received' : 'refused', sent });
}

/** Why an acknowledgement refuses its document; null if it was received, now or before (motive 3). */
function motiveOf(bytes: Buffer): string | null {
  try {
    const detail = groupOf(groupOf(readXml(parseXml(bytes)), 'ARECF'), 'DetalleAcusedeRecibo');
    const motive = textOf(detail, 'CodigoMotivoNoRecibido');
    return textOf(detail, 'Estado') === '0' || motive === '3' ? null : (motive ?? 'none');
  } catch (error) {
    if (error instanceof XmlRefused) return 'none';
    throw error;
  }
}

async function approval(rehearsal: Rehearsal, { encf, date_issued, total_amount }: Invoice): Promise<Row> {
  const { calls, judge, env, issuer, clock } = rehearsal;
  const request = {
    issuer_rnc: issuer.rnc,
    receiver_rnc: issuer.rnc,
    encf,
    authority_environment: env,
    approval_status: 1,
    invoice_date_issued: date_issued,
    invoice_total_amount: total_amount,
  };
  const list = `/acecf?receiver_rnc=${issuer.rnc}`;
  try {
    const { id } = await calls
      .request('/acecf', json<Approval>('id'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      .catch(async (error) => {
        // The answer to the first call was lost.
        if (!(error instanceof CallRefused) || error.status !== 409) throw error;
        const known = (await calls.request(list, json<Approval[]>())).find((each) => each.encf === encf);
        if (known === undefined) throw error;
        return known;
      });
    const { authority_submission_status: status, authority_response } = await follow(
      rehearsal,
      'approval',
      () => calls.request(`/acecf/${id}`, json<Approval>('id')),
      (each) => each.authority_submission_status === 'Aceptado' || each.authority_submission_status === 'Rechazado',
    );
    const document = { filename: `${issuer.rnc}${encf}.xml`, bytes: await bytesOf(calls, `/acecf/${id}/xml`) };
    const rules = rulesOpinion([document.bytes], clock());
    const simulator = await simulatorOpinion(judge, { operation: 'aprobacioncomercial', env, ...document });
    const known = { encf, rules, simulator, sent: [document], answers: authority_response };
    if (status !== 'Aceptado' && status !== 'Rechazado')
      return notCompared(
        'approval',
        `the authority has not decided in time: ${authority_response ?? 'no answer'}`,
        known,
      );
    const authority = opinion(status, status === 'Aceptado' ? [] : refusalTexts(authority_response ?? ''), null);
    return judged('approval', differences(authority, rules, simulator), { ...known, authority });
  } catch (error) {
    if (error instanceof CallRefused) return notCompared('approval', refusalOf(error), { encf });
    throw error;
  }
}

/** The messages of the authority's refusal of an approval, `{"mensaje": [...], "codigo": "02"}`. */
function refusalTexts(response: string): AuthorityMessage[] {
  try {
    const { mensaje, codigo } = JSON.parse(response) as { mensaje: string[]; codigo: string };
    return mensaje.map((valor) => ({ codigo, valor }));
  } catch {
    return [{ codigo: REFUSED_APPROVAL, valor: response }];
  }
}
