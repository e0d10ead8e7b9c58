import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isRnc } from '@ecf/domain';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { send } from '../http/app.js';
import { type Answer, emptyAnswer, Query } from '../http/call.js';
import { rawBody } from '../http/read-body.js';
import type { Submission } from '../ledger/submission.js';
import { isOperation, OPERATIONS } from '../services.js';
import type { Simulation } from '../simulation.js';
import {
  ControlRefused,
  readCertificationSet,
  readFault,
  readMaintenance,
  readRestart,
  readStrict,
  readTaxpayer,
  showFault,
} from './input.js';
import { submissionRow } from './submission-row.js';

interface ControlCall {
  readonly body: Buffer;
  readonly query: Query;
  /** The variable part of the path. */
  readonly id: string;
}

type ControlHandler = (simulation: Simulation, call: ControlCall) => Answer | Iterable<string>;

/** The control interface, for tests and for experiments. */
const ROUTES: Readonly<Record<string, Partial<Record<'get' | 'post' | 'put' | 'delete', ControlHandler>>>> = {
  '/submissions': { get: listSubmissions },
  '/submissions/:id/xml': { get: submissionXml },
  '/faults': { get: ({ faults }) => json(200, faults.list().map(showFault)), post: addFault, delete: removeAllFaults },
  '/faults/:id': { delete: removeFault },
  '/reset': { post: reset },
  '/taxpayers': { get: ({ taxpayers }) => json(200, taxpayers.list()) },
  '/taxpayers/:id': { get: showTaxpayer, put: putTaxpayer, delete: removeTaxpayer },
  '/maintenance': { put: putMaintenance },
  '/signatures': { get: ({ signatures }) => json(200, signatures), put: putSignatures },
  '/certificate': { get: giveCertificate },
  '/certification/:id': { get: showCertification, put: putCertification },
  '/certification/:id/restart': { post: restartCertification },
};

/** The routes below `/_control`. */
export function controlRoutes(simulation: Simulation): Router {
  const router = Router();
  router.use(rawBody);
  for (const [path, handlers] of Object.entries(ROUTES)) {
    const route = router.route(path);
    for (const [method, handler] of Object.entries(handlers))
      route[method as keyof typeof handlers](async (request: Request<{ id?: string }>, response: Response) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const answer = handler(simulation, { body, query: new Query(request.url), id: request.params.id ?? '' });
        if (!(Symbol.iterator in answer)) return send(request, response, answer);
        response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
        await pipeline(Readable.from(answer), response);
      });
    const methods = Object.keys(handlers).join(' and ').toUpperCase().replaceAll('AND', 'and');
    route.all((request) => {
      throw new ControlRefused(`/_control${request.path} takes ${methods}.`, 405);
    });
  }
  router.use((request) => {
    throw new ControlRefused(`There is no /_control${request.path}.`, 404);
  });
  router.use((error: Error & { status?: number }, request: Request, response: Response, next: NextFunction) => {
    if (error.status === undefined) next(error);
    else send(request, response, json(error.status, { detail: `${error.message.replace(/\.$/, '')}.` }));
  });
  return router;
}

function json(status: number, value: unknown): Answer {
  return { status, body: JSON.stringify(value), contentType: 'application/json; charset=utf-8' };
}

function listSubmissions({ ledger, clock }: Simulation, { query }: ControlCall): Iterable<string> {
  const operation = query.get('operation');
  if (operation !== null && !isOperation(operation)) {
    throw new ControlRefused(`operation has to be one of ${OPERATIONS.join(', ')}.`);
  }
  const encf = query.get('encf')?.toUpperCase() ?? null;
  return listAsJson(ledger.list({ rnc: query.get('rnc'), encf, operation }), clock().getTime());
}

function submissionXml({ ledger }: Simulation, { id }: ControlCall): Answer {
  const submission = /^[0-9]+$/.test(id) ? ledger.find(Number(id)) : null;
  if (!submission) throw new ControlRefused(`There is no submission ${id}.`, 404);
  return { status: 200, body: ledger.bytesOf(submission), contentType: 'application/xml' };
}

function addFault({ faults, newId }: Simulation, { body }: ControlCall): Answer {
  const fault = readFault(body, newId());
  faults.add(fault);
  return json(200, { id: fault.id });
}

function removeAllFaults({ faults, ledger, clock }: Simulation): Answer {
  faults.clear();
  ledger.release(null, clock().getTime());
  return emptyAnswer(204);
}

function removeFault({ faults, ledger, clock }: Simulation, { id }: ControlCall): Answer {
  const known = faults.remove(id);
  const released = ledger.release(id, clock().getTime());
  if (!known && !released) throw new ControlRefused(`There is no fault ${id}.`, 404);
  return emptyAnswer(204);
}

function putMaintenance({ maintenance }: Simulation, { body }: ControlCall): Answer {
  maintenance.announce(readMaintenance(body));
  return emptyAnswer(204);
}

function putSignatures({ signatures }: Simulation, { body }: ControlCall): Answer {
  signatures.strict = readStrict(body);
  return emptyAnswer(204);
}

/** A new test certificate of the holder in the parameters. */
function giveCertificate({ certificates, clock }: Simulation, { query }: ControlCall): Answer {
  const [holderId, rnc, commonName] = [query.get('holder_id'), query.get('rnc'), query.get('name')];
  if (holderId !== null && !/^[A-Z0-9]{5,20}$/i.test(holderId))
    throw new ControlRefused('holder_id has to be a cédula, an RNC or a passport number.');
  if (rnc !== null && !isRnc(rnc)) throw new ControlRefused('rnc has to be 9 or 11 digits.');
  if (commonName !== null && commonName.length > 64) throw new ControlRefused('name has at most 64 characters.');
  const holder = { ...(holderId && { holderId }), ...(rnc && { rnc }), ...(commonName && { commonName }) };
  const { p12 } = certificates.issue(holder, clock());
  const headers = { 'Content-Disposition': 'attachment; filename="test.p12"' };
  return { status: 200, body: Buffer.from(p12), contentType: 'application/x-pkcs12', headers };
}

export function reset({ faults, maintenance, signatures, ledger, facts, certification }: Simulation): Answer {
  faults.clear();
  maintenance.announce(null);
  signatures.strict = false;
  ledger.clear();
  facts.clear();
  certification.forgetProgress();
  return emptyAnswer(204);
}

function showTaxpayer({ taxpayers }: Simulation, { id }: ControlCall): Answer {
  const taxpayer = taxpayers.find(id);
  if (!taxpayer) throw new ControlRefused(`No taxpayer ${id} is registered.`, 404);
  return json(200, taxpayer);
}

function putTaxpayer({ taxpayers }: Simulation, { id, body }: ControlCall): Answer {
  return json(200, taxpayers.put(readTaxpayer(id, body)));
}

function removeTaxpayer({ taxpayers }: Simulation, { id }: ControlCall): Answer {
  if (!taxpayers.remove(id)) throw new ControlRefused(`No taxpayer ${id} is registered.`, 404);
  return emptyAnswer(204);
}

function showCertification({ certification }: Simulation, { id }: ControlCall): Answer {
  const progress = certification.progress(id);
  if (!progress) throw new ControlRefused(`${id} has no certification data set.`, 404);
  return json(200, progress);
}

function putCertification(simulation: Simulation, call: ControlCall): Answer {
  simulation.certification.put(call.id, readCertificationSet(call.id, call.body));
  return showCertification(simulation, call);
}

/** As the authority restarts a set after a rejection: with the same numbers. */
function restartCertification({ ledger, certification }: Simulation, { id, body }: ControlCall): Answer {
  const env = readRestart(id, body);
  ledger.restart(env, id);
  if (env === 'CerteCF') certification.restart(id);
  return emptyAnswer(204);
}

const ROWS_AT_ONCE = 500;

/** The list as JSON text, piece by piece. */
function* listAsJson(submissions: Iterable<Submission>, now: number): Generator<string> {
  let rows: string[] = [];
  let before = '[';
  for (const submission of submissions) {
    rows.push(JSON.stringify(submissionRow(submission, now)));
    if (rows.length < ROWS_AT_ONCE) continue;
    yield before + rows.join(',\n');
    rows = [];
    before = ',\n';
  }
  yield `${before === '[' || rows.length > 0 ? before : ''}${rows.join(',\n')}]`;
}
