const BLOT = '[removed]';

/** Anything shorter is no credential, and taking it out would only mangle the text. */
const SHORTEST_SECRET = 8;

/** Takes the credentials of this very call out of a text that others may see. */
export function withoutCredentials(text: string, authorization: string | undefined): string {
  const secret = authorization?.replace(/^\S+\s+/, '');
  return secret && secret.length >= SHORTEST_SECRET ? text.replaceAll(secret, BLOT) : text;
}

/** Removes tokens from a login's answer: JWTs anywhere, and any value of a field `token`. */
export function withoutTokens(body: string): string {
  return body
    .replace(/eyJ[\w-]+(?:\.[\w-]*){1,4}/g, BLOT)
    .replace(/("token"\s*:\s*")[^"]*/gi, `$1${BLOT}`)
    .replace(/(<(?:\w+:)?token(?:\s[^>]*)?>)[^<]*/gi, `$1${BLOT}`);
}
