import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { send } from '../http/dispatch.js';
import { type Answer, emptyAnswer, type Query } from '../http/exchange.js';
import { readQuery } from '../http/query.js';
import { readBody } from '../http/request-body.js';
import { isOperation, OPERATIONS } from '../operation.js';
import type { Simulation } from '../simulation.js';
import { readCertificationSet, readRestart } from './certification-input.js';
import { readFault, showFault } from './fault-input.js';
import { ControlRefused, flag, readObject } from './input.js';
import { readMaintenance } from './maintenance-input.js';
import { CONTROL_PATH } from './paths.js';
import { listAsJson } from './submission-list.js';
import { readTaxpayer } from './taxpayer-input.js';

type Controlled = Pick<
  Simulation,
  'ledger' | 'taxpayers' | 'facts' | 'faults' | 'maintenance' | 'signatures' | 'certification' | 'clock' | 'newId'
> & { readonly instance: string };

interface ControlCall {
  readonly body: Buffer;
  readonly query: Query;
  /** The groups of the pattern, percent-decoded. */
  readonly captured: readonly string[];
}

type ControlHandler = (controlled: Controlled, call: ControlCall) => Answer | Iterable<string>;

/** The control interface, for tests and for experiments. */
const ROUTES: readonly (readonly [method: string, pattern: RegExp, handler: ControlHandler])[] = [
  ['GET', /^instance$/, ({ instance }) => json(200, { instance })],
  ['GET', /^submissions$/, listSubmissions],
  ['GET', /^submissions\/([^/]+)\/xml$/, submissionXml],
  ['GET', /^faults$/, ({ faults }) => json(200, faults.list().map(showFault))],
  ['POST', /^faults$/, addFault],
  ['DELETE', /^faults$/, removeAllFaults],
  ['DELETE', /^faults\/([^/]+)$/, removeFault],
  ['POST', /^reset$/, reset],
  ['GET', /^taxpayers$/, ({ taxpayers }) => json(200, taxpayers.list())],
  ['GET', /^taxpayers\/([^/]+)$/, showTaxpayer],
  ['PUT', /^taxpayers\/([^/]+)$/, putTaxpayer],
  ['DELETE', /^taxpayers\/([^/]+)$/, removeTaxpayer],
  ['PUT', /^maintenance$/, putMaintenance],
  ['GET', /^signatures$/, ({ signatures }) => json(200, signatures)],
  ['PUT', /^signatures$/, putSignatures],
  ['GET', /^certification\/([^/]+)$/, showCertification],
  ['PUT', /^certification\/([^/]+)$/, putCertification],
  ['POST', /^certification\/([^/]+)\/restart$/, restartCertification],
];

/** Answers a call whose path begins with `/_control/`. */
export async function answerControl(
  controlled: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  if (body === 'gone') return;
  try {
    if (body === 'too_large') throw new ControlRefused('The body is too large.', 413);
    const answer = route(controlled, request, body);
    if (!(Symbol.iterator in answer)) return send(request, response, answer);
    response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
    await pipeline(Readable.from(answer), response);
  } catch (error) {
    if (!(error instanceof ControlRefused)) throw error;
    send(request, response, json(error.status, { detail: error.message }));
  }
}

function route(controlled: Controlled, request: IncomingMessage, body: Buffer): Answer | Iterable<string> {
  const [target = '', search = ''] = (request.url ?? '').split('?', 2);
  const path = target.slice(CONTROL_PATH.length).replace(/\/$/, '');
  const methods: string[] = [];
  for (const [method, pattern, handler] of ROUTES) {
    const match = pattern.exec(path);
    if (!match) continue;
    if (method === request.method) {
      return handler(controlled, { body, query: readQuery(search), captured: match.slice(1).map(decoded) });
    }
    methods.push(method);
  }
  if (methods.length === 0) throw new ControlRefused(`There is no ${CONTROL_PATH}${path}.`, 404);
  throw new ControlRefused(`${CONTROL_PATH}${path} takes ${methods.join(' and ')}.`, 405);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ControlRefused('The address is not percent-encoded well.');
  }
}

function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value), contentType: 'application/json; charset=utf-8' };
}

function listSubmissions({ ledger, clock }: Controlled, { query }: ControlCall): Iterable<string> {
  const operation = query.get('operation');
  if (operation !== null && !isOperation(operation)) {
    throw new ControlRefused(`operation has to be one of ${OPERATIONS.join(', ')}.`);
  }
  const encf = query.get('encf')?.toUpperCase() ?? null;
  return listAsJson(ledger.list({ rnc: query.get('rnc'), encf, operation }), clock().getTime());
}

function submissionXml({ ledger }: Controlled, { captured }: ControlCall): Answer {
  const id = captured[0] ?? '';
  const submission = /^[0-9]+$/.test(id) ? ledger.find(Number(id)) : null;
  if (!submission) throw new ControlRefused(`There is no submission ${id}.`, 404);
  return { status: 200, body: ledger.bytesOf(submission), contentType: 'application/xml' };
}

function addFault({ faults, newId }: Controlled, { body }: ControlCall): Answer {
  const fault = readFault(body, newId());
  faults.add(fault);
  return json(200, { id: fault.id });
}

function removeAllFaults({ faults, ledger, clock }: Controlled): Answer {
  faults.clear();
  ledger.release(null, clock().getTime());
  return emptyAnswer(204);
}

function removeFault({ faults, ledger, clock }: Controlled, { captured }: ControlCall): Answer {
  const id = captured[0] ?? '';
  const known = faults.remove(id);
  const released = ledger.release(id, clock().getTime());
  if (!known && !released) throw new ControlRefused(`There is no fault ${id}.`, 404);
  return emptyAnswer(204);
}

function putMaintenance({ maintenance }: Controlled, { body }: ControlCall): Answer {
  maintenance.announce(readMaintenance(body));
  return emptyAnswer(204);
}

function putSignatures({ signatures }: Controlled, { body }: ControlCall): Answer {
  signatures.strict = flag(readObject(body, ['strict']), 'strict') ?? false;
  return emptyAnswer(204);
}

function reset({ faults, maintenance, signatures, ledger, facts, certification }: Controlled): Answer {
  faults.clear();
  maintenance.announce(null);
  signatures.strict = false;
  ledger.clear();
  facts.clear();
  certification.forgetProgress();
  return emptyAnswer(204);
}

function showTaxpayer({ taxpayers }: Controlled, { captured }: ControlCall): Answer {
  const taxpayer = taxpayers.find(captured[0] ?? '');
  if (!taxpayer) throw new ControlRefused(`No taxpayer ${captured[0]} is registered.`, 404);
  return json(200, taxpayer);
}

function putTaxpayer({ taxpayers }: Controlled, { captured, body }: ControlCall): Answer {
  return json(200, taxpayers.put(readTaxpayer(captured[0] ?? '', body)));
}

function removeTaxpayer({ taxpayers }: Controlled, { captured }: ControlCall): Answer {
  if (!taxpayers.remove(captured[0] ?? '')) throw new ControlRefused(`No taxpayer ${captured[0]} is registered.`, 404);
  return emptyAnswer(204);
}

function showCertification({ certification }: Controlled, { captured }: ControlCall): Answer {
  const progress = certification.progress(captured[0] ?? '');
  if (!progress) throw new ControlRefused(`${captured[0]} has no certification data set.`, 404);
  return json(200, progress);
}

function putCertification(controlled: Controlled, call: ControlCall): Answer {
  const rnc = call.captured[0] ?? '';
  controlled.certification.put(rnc, readCertificationSet(rnc, call.body));
  return showCertification(controlled, call);
}

/** As the authority restarts a set after a rejection: with the same numbers. */
function restartCertification({ ledger, certification }: Controlled, { captured, body }: ControlCall): Answer {
  const rnc = captured[0] ?? '';
  const env = readRestart(rnc, body);
  ledger.restart(env, rnc);
  if (env === 'CerteCF') certification.restart(rnc);
  return emptyAnswer(204);
}
