import { createHash } from 'node:crypto';
import type { Issuer } from './documents.js';
import type { Row } from './rehearsal.js';

/** The facts of a report besides its rows. */
export interface ReportFacts {
  readonly env: string;
  readonly issuer: Issuer;
  readonly reference: string;
  readonly began_at: string;
  readonly ended_at: string;
  readonly versions: Readonly<Record<string, string>>;
}

/** A row as JSON: with the sent documents as text, and what the authority answered. */
export function reportRow({ sent, answers, ...row }: Row): object {
  return {
    ...row,
    sent: sent.map(({ filename, bytes }) => ({
      filename,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      xml: bytes.toString('utf8'),
    })),
    authority_answers: answers,
  };
}

/** The report as JSON. It has no private key and no API key. */
export function report(facts: ReportFacts, rows: readonly Row[], anonymous: boolean): string {
  const whole = { report: 'ecf rehearse', anonymous, ...facts, rows: rows.map(reportRow) };
  return `${JSON.stringify(anonymous ? anonymised(whole) : whole, null, 2)}\n`;
}

/** Elements whose texts identify a person or company, in any of the documents. RNC stay; cédulas do not. */
const PERSONAL =
  /<(RazonSocial\w*|NombreComercial|Sucursal|Direccion\w*|Telefono\w*|Correo\w*|Contacto\w*|WebSite|X509Certificate)>([^<]+)</g;
const DIGITS = /\d+/g;
/** A cédula is 11 digits; an eNCF has 12. */
const CEDULA_DIGITS = 11;
const WORD = /[^\s<>"',;:()]+/g;
const TELEPHONE = /\d{3}-\d{3}-\d{4}/g;
const HIDDEN = 'anonymous';
/** A shorter text, alone, may be a part of other words. */
const SHORTEST = 4;

/**
 * The value without names, addresses, mail, telephone numbers, cédulas and certificates, also where the authority repeats them.
 * Checksums stay those of the sent bytes.
 */
export function anonymised<Value extends { issuer: Issuer }>(value: Value): Value {
  const names = new Set([value.issuer.name]);
  walk(value, (text) => {
    for (const [, , name = ''] of text.matchAll(PERSONAL)) names.add(name);
    return text;
  });
  const forms = [...names].filter((name) => name.length >= SHORTEST).flatMap(formsOf);
  const found = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return walk(value, (text) => {
    let hidden = text.replace(PERSONAL, (_, element: string) => `<${element}>${HIDDEN}<`);
    for (const form of found) hidden = hidden.replaceAll(form, HIDDEN);
    return hidden
      .replace(WORD, (word) => (word.includes('@') ? HIDDEN : word))
      .replace(TELEPHONE, HIDDEN)
      .replace(DIGITS, (digits) => (digits.length === CEDULA_DIGITS ? '0'.repeat(CEDULA_DIGITS) : digits));
  }) as Value;
}

/** A name as text, as XML writes it and reads it, and as JSON in ASCII writes it. */
function formsOf(name: string): string[] {
  const plain = name
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
  const json = JSON.stringify(plain).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [name, plain, json, ascii];
}

/** A copy of the value with every text changed, except checksums. */
function walk(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => walk(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === 'sha256' ? each : walk(each, change)]),
  );
}
