/** The replacement of a secret. */
const REDACTED = '[redacted]';

/** Names whose values are never logged, at any place in an object. Compared without `-` and `_`, in lower case. */
const SECRET_NAMES = new Set([
  'xapikey',
  'apikey',
  'key',
  'masterkey',
  'sealingkeys',
  'identitykey',
  'statuskey',
  'privatekey',
  'serviceprivatekey',
  'kafkasaslpassword',
  'secret',
  'secretkey',
  's3secretkey',
  's3accesskey',
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xtoken',
  'token',
  'admintoken',
  'accesstoken',
  'password',
  'passphrase',
  'certificate',
  'sealed',
  'p12',
  'pfx',
  'xecfidentity',
  'databaseurl',
  'redisurl',
  'connectionstring',
]);

/** Secrets recognised by their form inside any text. */
const SECRET_FORMS: readonly RegExp[] = [
  /\becf_(?:test|live|admin)_[A-Za-z0-9_-]{20,}/g,
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\beyJ[\w.-]{8,}/g,
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g,
  /\bMI[A-Za-z0-9+/]{120,}={0,2}/g,
];
const ADDRESS_PASSWORD = /(:\/\/[^\s:/@]*):[^\s@/]+@/g;

/** Every secret contains one of these: most texts pass this one check. */
const SUSPICIOUS = /ecf_|bearer|basic|eyJ|-----BEGIN|MI[A-Za-z0-9+/]{120}|:\/\//i;

const MAX_DEPTH = 6;
const MAX_TEXT = 8_192;
/** A secret that the cut shortens may have this many characters and still not be recognised. */
const UNRECOGNISED = 200;

/** The text without secrets of a recognisable form, bounded in length. */
export function redactText(text: string): string {
  if (text.length <= MAX_TEXT) return withoutSecrets(text);
  return `${withoutSecrets(text.slice(0, MAX_TEXT)).slice(0, -UNRECOGNISED)}…`;
}

function withoutSecrets(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let clean = text;
  for (const form of SECRET_FORMS) clean = clean.replace(form, REDACTED);
  return clean.replace(ADDRESS_PASSWORD, `$1:${REDACTED}@`);
}

/**
 * A copy fit for a log: secrets replaced by name and by form, errors as type, code, message, stack and causes, bytes as
 * their length.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth > MAX_DEPTH) return '[deeper]';
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return value;
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redact(item, depth + 1));
  return redactEntries(value, depth);
}

function redactEntries(value: object, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value))
    clean[name] = isSecretName(name) && item !== null && item !== undefined ? REDACTED : redact(item, depth + 1);
  return clean;
}

/** The safe parts of an error: libraries may attach anything to it, also a client with its keys. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    message: redactText(error.message),
    stack: error.stack === undefined ? undefined : redactText(error.stack),
    ...(error.cause === undefined ? {} : { cause: causeOf(error.cause, depth + 1) }),
    ...(error instanceof AggregateError ? { errors: redact(error.errors.slice(0, 5), depth + 1) } : {}),
  };
}

/** A cause is logged if it is an error or a plain word. */
function causeOf(cause: unknown, depth: number): unknown {
  return cause instanceof Error || typeof cause !== 'object' ? redact(cause, depth) : `[${typeof cause}]`;
}

function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name.replace(/[-_]/g, '').toLowerCase());
}
