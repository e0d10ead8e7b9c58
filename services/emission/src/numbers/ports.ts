import type { NumberRange } from '@ecf/contracts';
import type { EcfType, Environment } from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';

/** The account and the environment to which an idempotency key belongs. */
export interface KeyScope {
  readonly accountId: string;
  readonly env: Environment;
  /** 1 to 255 printable characters. */
  readonly idempotencyKey: string;
}

/** A submission that leaves its number to the service. */
export interface DrawRequest extends KeyScope {
  readonly issuerRnc: string;
  readonly ecfType: EcfType;
  /** Names the reservation. */
  readonly token: string;
  /** Registered ranges of the environment and type that are not expired. */
  readonly ranges: readonly NumberRange[];
}

/** An idempotency key, for the commit of the document that it names. */
export interface KeyBinding {
  readonly idempotencyKey: string;
  /** As that of an attempt, of the document before the service filled in its number and expiry. */
  readonly contentHash: string;
}

/** A drawn number, for the commit of its document. */
export interface Drawn extends KeyBinding {
  readonly token: string;
  /** The certification run in which it was drawn. */
  readonly run: number;
}

export type Draw =
  | { readonly outcome: 'drawn'; readonly encf: string; readonly run: number }
  /**
   * `bound`: the key was used before. `busy`: a call with the key is in progress. `none`: no number is left. `restored`: the database
   * was restored, and the numbers were not compared with the authority since.
   */
  | { readonly outcome: 'bound' | 'busy' | 'none' | 'restored' };

/** Automatic numbers. The database gives each number once, to all instances. */
export interface NumberStore {
  /** The submission that the key names, in the present certification run of the issuer. */
  submitted(
    scope: KeyScope & { readonly issuerRnc: string },
  ): Promise<{ readonly contentHash: string; readonly attempt: Attempt } | null>;
  /** Reserves the next number for a few seconds. A number whose reservation ends without a document is given again. */
  draw(request: DrawRequest): Promise<Draw>;
  /** Binds the key of a repeat to the attempt that the repeat found. False if the key is bound already. */
  bind(accountId: string, binding: KeyBinding, attempt: Attempt): Promise<boolean>;
  /** Ends the reservation. The number is given before any higher one. */
  giveBack(token: string): Promise<void>;
  /** The numbers left in each range, in the order of `ranges`; `next` is null if none is left. */
  left(
    issuerRnc: string,
    ranges: readonly NumberRange[],
  ): Promise<{ readonly next: string | null; readonly remaining: number }[]>;
  /** Deletes idempotency keys that were used more than 30 days ago, at most those of one day in a call. */
  forgetKeys(now: Date): Promise<void>;
}
