import type { AnswerReader } from '../answers/answer-reader.js';
import { field, textField } from '../answers/answer-value.js';
import { fold, plainReason } from '../answers/authority-texts.js';
import type { IssuedToken, Seed } from '../answers/verdicts.js';

/** `valor` is opaque and `fecha` stays text (contract section 2.1). */
export const readSeed: AnswerReader<Seed> = ({ status, value }) => {
  const seed = field(value, 'valor');
  const date = textField(value, 'fecha');
  if (status !== 200 || typeof seed !== 'string' || seed.trim() === '' || date === null) return null;
  return { verdict: { value: seed, date } };
};

/** The authority failed to reach the certificate's issuer (OCSP, CRL): temporary (contract section 2.3). */
const TRANSIENT =
  /connection attempt failed|one or more errors occurred|timed? ?out|ocsp|crl\b|intent\w{0,8} nuevamente/;
/** The seed was late or used: the next login gets a new one. */
const STALE_SEED = /venc|expir|utiliz|caduc|no encontrad/;
const PERMANENT = /firma|certificado|delegad/;
/** Real tokens have some thousand characters; a header cannot carry more than this. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

/** A token, a permanent refusal of this certificate, or a temporary failure. */
export const readIssuedToken: AnswerReader<IssuedToken> = ({ status, value, text }) => {
  const token = textField(value, 'token');
  if (status === 200 && token !== null && TOKEN.test(token)) {
    return { verdict: { token, lifetimeMs: lifetime(textField(value, 'expedido'), textField(value, 'expira')) } };
  }
  if (status < 400) return null;
  const reason = plainReason(value, text);
  if (reason !== null) {
    const words = fold(reason);
    if (TRANSIENT.test(words) || isStaleSeed(words)) return { unknown: 'server_error', detail: reason };
    if (PERMANENT.test(words)) return { refused: 'login_refused', reason };
  }
  if (status === 401) return { refused: 'login_refused', reason: reason ?? 'status 401' };
  return null;
};

/** Whether the text names the seed, and then one of the words. */
function isStaleSeed(words: string): boolean {
  const seed = words.indexOf('semilla');
  return seed >= 0 && STALE_SEED.test(words.slice(seed));
}

/** From the issuer's own two dates, so that its clock need not agree with ours. */
function lifetime(issued: string | null, expires: string | null): number | null {
  const ms = Date.parse(expires ?? '') - Date.parse(issued ?? '');
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
