import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '@ecf/kit';
import type { Request, RequestHandler, Response } from 'express';
import { callerIfKnown } from '../identity/identity.js';
import { senderSite } from '../sender-network.js';
import { createShares, type Share } from '../shares.js';

const MEBIBYTE = 1024 * 1024;
/** What a body takes beside its bytes: its connection and its buffers. So open bodies without bytes are bounded too. */
const BODY_OVERHEAD = 16 * 1024;
/** Part of the budget that all callers without an API key may use together. */
const STRANGERS_SHARE = 1 / 2;
/** Part that one caller may use: of the budget with an API key, of the strangers' share without one. */
const CALLER_SHARE = 1 / 4;
/** Part of its account's share that one API key may use. */
const KEY_SHARE = 4 / 5;
/** Holders of shares that count several callers together; no caller has these names. */
const [ALL, STRANGERS] = ['all', 'strangers'];
/** Bodies of MAX_BODY_BYTES that the budget holds at least, so that a share holds two. */
const LARGEST_BODIES = 16;

/** Whose body it is. */
export interface BodySender {
  /** An account, or the network of a sender without an API key. */
  readonly name: string;
  /** The API key of the account. */
  readonly key?: string | undefined;
  readonly isStranger: boolean;
}

/** A body that has begun to arrive. */
export interface BodyInFlight {
  /**
   * Sets how many of its bytes are in memory now.
   * @throws ApiError 503 `overloaded` over the budget, 429 `rate_limited` over the share of the caller
   */
  hold(bytes: number): void;
  /** Ends it; its bytes are free. Further calls have no effect. */
  end(): void;
}

/** The bytes of request bodies that a process holds: from their arrival to the end of the answer. */
export interface BodiesInFlight {
  readonly maxBytes: number;
  /** Bytes that are held, with the overhead of each body. */
  bytes(): number;
  /** Begins a body. Throws as {@link BodyInFlight.hold}. */
  begin(sender: BodySender): BodyInFlight;
}

/** The budget of a process by its settings. */
export function createBodiesInFlight({
  MAX_BODY_BYTES_IN_FLIGHT = 256 * MEBIBYTE,
  MAX_BODY_BYTES = 0,
}: {
  readonly MAX_BODY_BYTES_IN_FLIGHT?: number | undefined;
  readonly MAX_BODY_BYTES?: number | undefined;
} = {}): BodiesInFlight {
  const maxBytes = Math.max(MAX_BODY_BYTES_IN_FLIGHT, LARGEST_BODIES * MAX_BODY_BYTES);
  const shares = createShares();

  function sharesOf({ name, key, isStranger }: BodySender): Share[] {
    const most = maxBytes * CALLER_SHARE * (isStranger ? STRANGERS_SHARE : 1);
    return [
      { holder: name, most },
      ...(key === undefined ? [] : [{ holder: key, most: most * KEY_SHARE }]),
      { holder: ALL, most: maxBytes },
      ...(isStranger ? [{ holder: STRANGERS, most: maxBytes * STRANGERS_SHARE }] : []),
    ];
  }

  function take(of: readonly Share[], bytes: number): void {
    const exceeded = shares.take(of, bytes);
    if (exceeded === null) return;
    throw exceeded.holder === ALL || exceeded.holder === STRANGERS ? overBudget() : overShare(exceeded.most);
  }

  return {
    maxBytes,
    bytes: () => shares.inUse(ALL),
    begin(sender) {
      const own = sharesOf(sender);
      take(own, BODY_OVERHEAD);
      let held = BODY_OVERHEAD;
      let ended = false;
      return {
        hold(bytes) {
          if (ended) return;
          const more = BODY_OVERHEAD + bytes - held;
          if (more > 0) take(own, more);
          else shares.free(own, -more);
          held += more;
        },
        end() {
          if (ended) return;
          ended = true;
          shares.free(own, held);
        },
      };
    },
  };
}

function overShare(most: number): ApiError {
  return new ApiError(
    429,
    'rate_limited',
    `The unfinished requests of this caller would take more than ${Math.floor(most)} bytes of memory, so this body was not kept. Send it again after Retry-After, with fewer requests at the same time.`,
    { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
  );
}

function overBudget(): ApiError {
  return new ApiError(
    503,
    'overloaded',
    'The unfinished requests take all memory that this service has for bodies, so this one was not kept. Send it again after Retry-After.',
    { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
  );
}

const RETRY_AFTER_SECONDS = '5';

const BODIES = Symbol('ecf.bodies-in-flight');
const SETTLED = Symbol('ecf.handler-settled');
type Counted = IncomingMessage & { [BODIES]?: BodiesInFlight; [SETTLED]?: (() => void)[]; res?: ServerResponse };

/** Has the readers of bodies count them in this budget. */
export function countBodies(bodies: BodiesInFlight): RequestHandler {
  return (req, _res, next) => {
    (req as Counted)[BODIES] = bodies;
    next();
  };
}

/**
 * Holds the body that a handler reads until the handler has settled. A caller that leaves frees nothing before: the work on
 * its document still has the bytes.
 */
export function holdingBody(handler: (req: Request, res: Response) => unknown): RequestHandler {
  return async (req, res) => {
    const ends: (() => void)[] = [];
    (req as Counted)[SETTLED] = ends;
    try {
      await handler(req, res);
    } finally {
      for (const end of ends) end();
    }
  };
}

/**
 * Begins the body of a request; it ends with its handler ({@link holdingBody}), else with the answer. Null for calls
 * between services, which are trusted, and where there is no budget.
 */
export function beginBody(req: IncomingMessage): BodyInFlight | null {
  const { [BODIES]: bodies, [SETTLED]: ends, res }: Counted = req;
  const sender = senderOf(req);
  if (bodies === undefined || sender === null) return null;
  const body = bodies.begin(sender);
  const carrier = res ?? req;
  if (ends !== undefined) ends.push(body.end);
  else if (carrier.destroyed) body.end();
  else carrier.once('close', body.end);
  return body;
}

function senderOf(req: IncomingMessage): BodySender | null {
  const caller = callerIfKnown(req);
  // Without a caller, the gateway itself reads the body: one of its administration.
  if (caller === undefined) return { name: 'administration', isStranger: false };
  if (caller.kind === 'service') return null;
  if (caller.kind === 'account') {
    const key = caller.key_id && `key ${caller.key_id}`;
    return { name: `account ${caller.account_id}`, key, isStranger: false };
  }
  return { name: `sender ${senderSite(caller.sender ?? 'unknown')}`, isStranger: true };
}

/** Milliseconds for the sender of a refused body to read the answer. */
const READ_ANSWER_MS = 2_000;

/** Drops the rest of a refused body as it arrives. Cuts the connection if the body has not ended in two seconds. */
export function dropRest(req: IncomingMessage): void {
  req.resume();
  const timer = setTimeout(() => req.destroy(), READ_ANSWER_MS).unref();
  req.once('close', () => clearTimeout(timer));
}
