import type { TokenProvider } from '@ecf/authority-client';
import type { TaxpayerState } from '@ecf/contracts';
import { isStillToCome } from '@ecf/domain';
import { describe, merged, type NumberRange, without } from '@ecf/domain/number-set';
import type { Caller, RecordCertificateUse } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import type { ReachCheckpoint } from '../attempt/ports.js';
import type { Certificates } from '../credentials/certificates.js';
import type { Taxpayers } from '../credentials/taxpayers.js';
import { loginFailure } from '../credentials/token-source.js';
import { confirming, EmissionError, invalidRequest, requireCaller } from '../errors.js';
import type { KeyedQueue } from '../issue/keyed-queue.js';
import { type Cancellation, rangesOf } from './cancellation.js';
import type { CancellationRequest } from './cancellation-document.js';
import type { CancellationDocuments, CancellationStore, Taken } from './ports.js';
import type { SendCancellation } from './send-cancellation.js';

export interface CancellationOrder {
  readonly caller: Caller;
  readonly request: CancellationRequest;
  /** False: it is only signed and stored. */
  readonly submit: boolean;
  /** Aborted when the caller leaves: a cancellation that is not begun then is not made. */
  readonly signal?: AbortSignal | undefined;
}

/** `POST /anecf/`: resolves with the cancellation after the answer of the authority, or after its timeout. */
export type CancelNumbers = (order: CancellationOrder) => Promise<Cancellation>;

/**
 * Checks every rule before it signs. The signed cancellation is committed with its numbers blocked before the first
 * byte is sent. Source: Formato Anulación de e-NCF v1.0 pp.3-9.
 */
export function createCancelNumbers({
  cancellations,
  documents,
  taxpayers,
  certificates,
  recordUse,
  tokens,
  send,
  inOrder,
  clock,
  leaseMs,
  checkpoint,
}: {
  readonly cancellations: CancellationStore;
  readonly documents: Pick<CancellationDocuments, 'sign'>;
  readonly taxpayers: Pick<Taxpayers, 'require'>;
  readonly certificates: Pick<Certificates, 'stored'>;
  /** Called before every signature. */
  readonly recordUse: RecordCertificateUse;
  readonly tokens: TokenProvider;
  readonly send: SendCancellation;
  readonly inOrder: KeyedQueue;
  readonly clock: () => Date;
  /** Milliseconds for which a cancellation is leased to its sender: longer than all calls of the send. */
  readonly leaseMs: number;
  readonly checkpoint: ReachCheckpoint;
}): CancelNumbers {
  const lease = () => new Date(clock().getTime() + leaseMs);

  return async (order) => {
    const { caller, request } = order;
    // Equal requests at the same moment wait for each other, so the document is signed once.
    const { cancellation, sending } = await inOrder(
      `anecf:${request.env}:${caller.accountId}:${request.contentHash}`,
      () => prepare(order),
    );
    return sending === null ? cancellation : send(cancellation, sending.certificate, sending.bytes);
  };

  /** All steps up to the commit. `sending` is null if the cancellation is not to be sent. */
  async function prepare(order: CancellationOrder): Promise<Prepared> {
    const { caller, request, submit, signal } = order;
    const { env, issuerRnc } = request;
    requireCaller(signal);
    requirePastTime(request, clock());
    if (submit && env === 'CerteCF') throw notInCertification();
    const taxpayer = await taxpayers.require(caller, issuerRnc);
    requireRegistered(taxpayer, request);
    const key = { env, accountId: caller.accountId, contentHash: request.contentHash };
    const local = await cancellations.findLocal(key);
    if (local !== null && !submit) return { cancellation: local, sending: null };
    const taken = await cancellations.taken({ env, issuerRnc, ranges: merged(rangesOf(request.lines)) });
    if (taken !== null) throw inUse(taken);
    const certificate = certificates.stored(taxpayer);
    if (submit) {
      const owner = { env, account: caller.accountId, rnc: issuerRnc, certificate };
      await tokens.get(owner).catch((error) => {
        throw loginFailure(error, { unreadableIs502: true });
      });
    }
    return local === null ? addSigned(order, certificate) : submitLocal(local, certificate);
  }

  /** Sends a cancellation that was only signed and stored before. */
  async function submitLocal(local: Cancellation, certificate: SigningCertificate): Promise<Prepared> {
    const submitted = await confirming(MAY_BE_STORED, () => cancellations.submit(local.id, lease(), clock()));
    if (submitted === null)
      throw new EmissionError('conflict', `The cancellation ${local.id} is being sent; see GET /anecf/${local.id}.`);
    return { cancellation: required(submitted), sending: { certificate } };
  }

  async function addSigned(
    { caller, request, submit }: CancellationOrder,
    certificate: SigningCertificate,
  ): Promise<Prepared> {
    const now = clock();
    const { generatedAt: stated, ...content } = request;
    const generatedAt = stated ?? now;
    await recordUse({ account: caller.accountId, rnc: request.issuerRnc, use: 'anecf', certificate });
    const { bytes, ...xml } = await documents.sign(request, generatedAt, certificate, now);
    await checkpoint('signed');
    const fresh = {
      ...content,
      accountId: caller.accountId,
      createdBy: caller.keyId ?? null,
      generatedAt,
      createdAt: now,
      ...xml,
    };
    const cancellation = required(
      submit
        ? await confirming(MAY_BE_STORED, () => cancellations.add(fresh, bytes, lease()))
        : await cancellations.add(fresh, bytes, null),
    );
    await checkpoint('committed');
    // If another instance stored the same cancellation meanwhile, its bytes are sent.
    const own = cancellation.xmlSha256 === xml.xmlSha256;
    return { cancellation, sending: submit ? { certificate, ...(own ? { bytes } : {}) } : null };
  }
}

const MAY_BE_STORED =
  'The database became unavailable while it stored the cancellation, so the cancellation may be in progress. Repeat the very same request. If it is in progress, you get 409 encf_in_use with its id, and GET /anecf/ with that id shows its outcome.';

interface Prepared {
  readonly cancellation: Cancellation;
  readonly sending: { readonly certificate: SigningCertificate; readonly bytes?: Uint8Array } | null;
}

function requirePastTime({ generatedAt }: CancellationRequest, now: Date): void {
  if (generatedAt === null || !isStillToCome(generatedAt, now)) return;
  const msg = 'The time is in the future; write the time of the cancellation, or leave the field out.';
  throw invalidRequest(['body', 'generation_datetime'], msg, 'future');
}

function required(outcome: { added: Cancellation } | { taken: Taken }): Cancellation {
  if ('taken' in outcome) throw inUse(outcome.taken);
  return outcome.added;
}

function inUse({ used, cancelled }: Taken): EmissionError {
  const parts = [
    ...(used.length === 0
      ? []
      : [`in use or in flight: ${used.map(({ encf, state }) => `${encf} (${state})`).join(', ')}`]),
    ...(cancelled.length === 0
      ? []
      : [
          `cancelled already: ${cancelled.map((range) => `${describe(range)} (by cancellation ${range.by})`).join(', ')}`,
        ]),
  ];
  return new EmissionError(
    'encf_in_use',
    `Some of these numbers cannot be cancelled; ${parts.join('; ')}. The cancellation was not signed. Leave these numbers out; to annul a document that was sent, issue a credit note (34).`,
  );
}

/** Only authorised numbers can be cancelled: if ranges are registered for a type, only numbers in them. */
function requireRegistered(taxpayer: TaxpayerState, { env, lines }: CancellationRequest): void {
  lines.forEach((line, index) => {
    const registered = taxpayer.ranges
      .filter((range) => range.env === env && range.ecf_type === line.type)
      .map(({ from, to }): NumberRange => ({ type: line.type, from: Number(from.slice(3)), to: Number(to.slice(3)) }));
    if (registered.length === 0) return;
    const outside = without(rangesOf([line]), registered)[0];
    if (outside !== undefined)
      throw invalidRequest(
        ['body', 'detail_lines', index, 'sequence_ranges'],
        `${describe(outside)} is not in a range registered for type ${line.type} in ${env}.`,
        'not_in_range',
      );
  });
}

function notInCertification(): EmissionError {
  const msg =
    'The authority cancels no numbers in CerteCF; only sign and store the cancellation there (submit_to_authority=false), or use TesteCF or eCF.';
  return new EmissionError('service_not_in_environment', msg, {
    items: [{ loc: ['body', 'authority_environment'], msg, type: 'service_not_in_environment' }],
  });
}
