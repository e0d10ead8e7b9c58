import { LoginError } from '@ecf/authority-client/login';
import { later } from '../attempt/transitions.js';
import { loginFailure, type TokenSource } from '../credentials/token-source.js';
import type { Authority } from '../sending/ports.js';
import { type ContingencyStore, type Destination, FIRST_PROBE_MS } from './ports.js';

/** A token; or, for a document that may wait, since when the authority is unreachable and the end of announced maintenance. */
export type TokenOrWait =
  | { readonly token: string; readonly since: null; readonly until: null }
  | { readonly token: null; readonly since: Date; readonly until: Date | null };

/**
 * The token for a document, before it is signed. If the authority cannot be reached and the document may wait, it is signed
 * without one.
 *
 * @throws EmissionError where it may not wait, and where the authority refuses the certificate
 */
export type TokenBeforeSigning = (
  destination: Destination,
  tokens: TokenSource,
  mayWait: boolean,
) => Promise<TokenOrWait>;

/** @param recoveryRate documents a second that leave the queue when the authority returns */
export function createTokenBeforeSigning(
  authority: Pick<Authority, 'isUnreachable' | 'maintenanceUntil'>,
  contingency: ContingencyStore,
  clock: () => Date,
  recoveryRate: number,
): TokenBeforeSigning {
  return async (destination, tokens, mayWait) => {
    const until = authority.maintenanceUntil(destination.env);
    const wait = async (isForAll: boolean) => {
      const now = clock();
      const outage = { now, rate: recoveryRate, dueAt: later(now, FIRST_PROBE_MS), isForAll };
      return { token: null, until, since: await contingency.begin(destination, outage) };
    };
    const isUnreachable = authority.isUnreachable(
      destination.env,
      destination.route === 'ecf' ? 'recepcion' : 'recepcionfc',
    );
    if (mayWait && (isUnreachable || (await contingency.isUnreachable(destination)))) return wait(true);
    try {
      return { token: await tokens.get(), since: null, until: null };
    } catch (error) {
      const isRefused = !(error instanceof LoginError) || error.code === 'login_refused';
      if (isRefused || !mayWait) throw loginFailure(error, { maintenanceUntil: until });
      return wait(error.isUnanswered);
    }
  };
}
