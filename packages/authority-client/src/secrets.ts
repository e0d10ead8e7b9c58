import { storableText } from '@ecf/domain';

const BLOT = '[removed]';

/** A shorter text is not a credential, and removing it would only mangle the text. */
const SHORTEST_SECRET = 8;

/**
 * The first `most` characters of a foreign text, as {@link storableText} cuts them, without the credentials of this very
 * call. The text ends before credentials that stand across that place.
 */
export function withoutCredentials(text: string, authorization: string | undefined, most = text.length): string {
  const secret = authorization?.replace(/^\S+\s+/, '');
  if (!secret || secret.length < SHORTEST_SECRET) return storableText(text, most);
  const from = Math.max(0, most - secret.length + 1);
  const across = text.slice(from, most + secret.length - 1).indexOf(secret);
  return storableText(text, across < 0 ? most : from + across).replaceAll(secret, BLOT);
}

/**
 * Removes tokens from a login's answer: JWTs anywhere, and any value of a field `token`. A token that was cut is removed too:
 * the patterns do not need its end. Each pattern is linear, because no match begins inside a failed one.
 */
export function withoutTokens(body: string): string {
  return body
    .replace(/eyJ[\w.-]*/g, BLOT)
    .replace(/("token"\s*:\s*")(?:[^"\\]|\\.)*/gis, `$1${BLOT}`)
    .replace(/(<(?:\w+:)?token(?:\s[^<>]*)?>)[^<]*/gi, `$1${BLOT}`);
}
