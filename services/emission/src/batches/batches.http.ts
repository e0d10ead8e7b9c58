import { type BatchResult, errorBody, LINE_STATUSES, type LineStatus } from '@ecf/contracts';
import { RequestParameters, type ServiceRoute, sendObject, writeChunk } from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import { ApiError } from '@ecf/kit';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import { EmissionError } from '../errors.js';
import {
  IDEMPOTENCY_KEY,
  mediaType,
  readContingency,
  requireUtf8,
  SubmissionParameters,
} from '../issue/submission-form.http.js';
import { publicStatus, sequenceUsed } from '../published/invoice-event.js';
import { type Batch, type BatchLine, batchBody, type LineError } from './batch.js';
import type { BatchScope, BatchStore, ResultPage } from './ports.js';
import { type BatchFormat, readBatchBody } from './read-body.http.js';
import type { ReceiveBatch } from './receive-batch.js';

/** What the routes of batches use. */
export interface Batches {
  readonly receive: ReceiveBatch;
  readonly batches: Pick<BatchStore, 'find' | 'findByKey' | 'list' | 'results' | 'cancel'>;
  readonly clock: () => Date;
  /** Largest document of a batch in bytes. */
  readonly maxDocumentBytes: number;
}

const NDJSON = 'application/x-ndjson';
const FORMATS: Readonly<Record<string, BatchFormat>> = { [NDJSON]: 'ndjson', 'application/json': 'json' };

/** The routes of batches. */
export function batchRoutes(parts: Batches): readonly ServiceRoute[] {
  const answering = (handler: typeof createBatch) => (req: Request, res: Response) => handler(parts, req, res);
  return [
    ['post', '/batches', 'account', answering(createBatch)],
    ['get', '/batches', 'account', answering(listBatches)],
    ['get', '/batches/:batch_id', 'account', answering(findBatch)],
    ['get', '/batches/:batch_id/results', 'account', answering(batchResults)],
    ['post', '/batches/:batch_id/cancel', 'account', answering(cancelBatch)],
  ];
}

/** `POST /batches` */
async function createBatch({ receive, maxDocumentBytes }: Batches, req: Request, res: Response): Promise<void> {
  const parameters = new BatchParameters(req);
  const validate = parameters.validate();
  const refusesWarnings = parameters.refusesWarnings();
  const idempotencyKey = parameters.idempotencyKeyHeader();
  const mayWait = readContingency(req);
  parameters.check();
  const { env, ...identity } = identityOf(req);
  const caller = accountCaller(identity);
  const body = readBatchBody(req, formatOf(req), maxDocumentBytes);
  const { id, total } = await receive({ env, caller, idempotencyKey, validate, mayWait, refusesWarnings }, body);
  const address = `/batches/${id}`;
  res.status(202).setHeader('location', address);
  res.json({ batch_id: String(id), total, status_url: address });
}

/** `GET /batches`, or the one that came with an idempotency key. */
async function listBatches({ batches }: Batches, req: Request, res: Response): Promise<void> {
  const parameters = new BatchParameters(req);
  const key = parameters.idempotencyKey();
  const { after, limit } = parameters.pageAfter();
  parameters.check();
  const scope = scopeOf(req);
  const withKey = key === null ? null : await batches.findByKey(scope, key);
  const one = withKey === null ? null : await batches.find(scope, withKey.id);
  const found = key === null ? await batches.list(scope, { after, limit }) : one === null ? [] : [one];
  const isFull = key === null && found.length === limit;
  const next = isFull ? String(found.at(-1)?.id) : null;
  res.json({ count: found.length, next, batches: found.map(batchBody) });
}

/** `GET /batches/{batch_id}` */
async function findBatch({ batches }: Batches, req: Request, res: Response): Promise<void> {
  sendObject(req, res, batchBody(await requested(batches, req)));
}

/** `POST /batches/{batch_id}/cancel`: refuses the lines that have not begun. A finished batch does not change. */
async function cancelBatch({ batches, clock }: Batches, req: Request, res: Response): Promise<void> {
  const batch = await requested(batches, req);
  if (batch.finishedAt === null) await batches.cancel(batch.id, clock());
  res.json(batchBody(batch.finishedAt === null ? await requested(batches, req) : batch));
}

/** `GET /batches/{batch_id}/results`: a page, or all of them as NDJSON. */
async function batchResults({ batches }: Batches, req: Request, res: Response): Promise<void> {
  const parameters = new BatchParameters(req);
  const only = parameters.only();
  const { after, limit } = parameters.pageAfter();
  parameters.check();
  const { id } = await requested(batches, req);
  const isStream = (req.headers.accept ?? '').includes(NDJSON);
  const most = isStream ? Number.POSITIVE_INFINITY : limit;
  const parts = partsOf((page) => batches.results(id, page), { after: after ?? 0, limit: most, only });
  // Reads the first part before the answer begins, so that an error still has its status.
  let part = await parts.next();
  res.setHeader('content-type', isStream ? NDJSON : 'application/json; charset=utf-8');
  if (!isStream) res.write('{"results":[');
  let count = 0;
  let last: number | undefined;
  for (; part.done !== true; part = await parts.next()) {
    const texts = part.value.map((line) => JSON.stringify(resultBody(line)));
    await writeChunk(res, isStream ? `${texts.join('\n')}\n` : `${count === 0 ? '' : ','}${texts.join(',')}`);
    if (res.destroyed) return;
    count += texts.length;
    last = part.value.at(-1)?.line;
  }
  res.end(isStream ? '' : `],"count":${count},"next":${count === limit ? `"${last}"` : null}}`);
}

/** Lines that are read and written together: each may have a thousand faults. */
const LINES_PER_PART = 25;

/** The lines of a page, part by part. */
async function* partsOf(
  read: (page: ResultPage) => Promise<BatchLine[]>,
  { after, limit, only }: ResultPage,
): AsyncGenerator<BatchLine[]> {
  for (let last = after, left = limit; left > 0; ) {
    const wanted = Math.min(left, LINES_PER_PART);
    const lines = await read({ after: last, limit: wanted, only });
    if (lines.length > 0) yield lines;
    last = lines.at(-1)?.line ?? last;
    left = lines.length < wanted ? 0 : left - wanted;
  }
}

function resultBody({ line, encf, issuerRnc, ownReference, outcome, attempt }: BatchLine): BatchResult {
  const isRefused = outcome?.outcome === 'refused';
  return {
    line,
    encf,
    issuer_rnc: issuerRnc,
    reference: ownReference,
    status: attempt !== null ? publicStatus(attempt.state) : outcome?.outcome === 'validated' ? 'Validado' : null,
    code: attempt?.verdict.code ?? null,
    track_id: attempt?.trackId ?? null,
    security_code: attempt?.facts.securityCode ?? null,
    qr_url: attempt?.facts.qrUrl ?? null,
    messages: [...(attempt?.verdict.messages ?? (isRefused ? outcome.messages : []))],
    faults: isRefused ? ([...outcome.faults] as BatchResult['faults']) : [],
    warnings: [...(attempt?.facts.warnings ?? (outcome?.outcome === 'validated' ? outcome.warnings : []))],
    sequence_used: attempt === null ? null : sequenceUsed(attempt.state),
    error: isRefused ? errorOf(outcome.error) : null,
  };
}

function errorOf({ status, code, detail }: LineError): NonNullable<BatchResult['error']> {
  const { message, items } = errorBody({ code, detail }, '');
  return { status, code, message, items, detail: items.length > 0 ? items : message };
}

function scopeOf(req: Request): BatchScope {
  const { account_id, env, taxpayers } = identityOf(req);
  return { accountId: account_id, env, taxpayers };
}

/** The batch of the path. Batches of other accounts do not exist for the caller (404). */
async function requested({ find }: Pick<BatchStore, 'find'>, req: Request): Promise<Batch> {
  const parameters = new RequestParameters(req);
  const id = parameters.id('batch_id');
  parameters.check();
  const scope = scopeOf(req);
  const batch = await find(scope, id);
  if (batch === null) throw new EmissionError('not_found', `There is no batch ${id} in ${scope.env}.`);
  return batch;
}

function formatOf(req: Request): BatchFormat {
  const encoding = req.headers['content-encoding'];
  const format = FORMATS[mediaType(req.headers['content-type'])];
  if (format !== undefined && (encoding === undefined || encoding === 'identity')) {
    requireUtf8(req.headers['content-type']);
    return format;
  }
  throw new ApiError(
    415,
    'unsupported_media_type',
    `Send ${NDJSON} (one document per line) or application/json (an array), in UTF-8 and without content encoding.`,
  );
}

class BatchParameters extends SubmissionParameters {
  idempotencyKeyHeader(): string | null {
    return this.#key(['header', 'idempotency-key'], this.header('idempotency-key'));
  }

  idempotencyKey(): string | null {
    return this.#key(['query', 'idempotency_key'], this.query('idempotency_key'));
  }

  #key(loc: string[], text: string | null): string | null {
    if (text === null || IDEMPOTENCY_KEY.test(text)) return text;
    return this.wrong(loc, 'an idempotency-key has 1 to 255 printable characters', 'idempotency_key');
  }

  only(): LineStatus | null {
    const text = this.query('only');
    if (text === null) return null;
    const found = LINE_STATUSES.find((status) => status === text);
    if (found === undefined) this.wrong(['query', 'only'], `only is one of ${LINE_STATUSES.join(', ')}`, 'enum');
    return found ?? null;
  }
}
