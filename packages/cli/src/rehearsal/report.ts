import { createHash, X509Certificate } from 'node:crypto';
import type { Issuer } from './documents.js';
import type { Row } from './rehearsal.js';

/** The gateway of a rehearsal, and who answers it as the authority: the official hosts, or a simulator. */
export interface Gateway {
  readonly url: string;
  readonly authority: 'official' | 'simulated';
}

/** The facts of a report besides its rows. */
export interface ReportFacts {
  readonly env: string;
  readonly issuer: Issuer;
  readonly gateway: Gateway;
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
/**
 * A cédula: 11 digits, or with dashes as it is printed. The letters of hexadecimal digits beside the second form and beside
 * telephone numbers exclude parts of a trackId.
 */
// linear: each alternative has a fixed number of characters.
const CEDULA = /(?<!\d)\d{11}(?!\d)|(?<![\da-f])\d{3}-?\d{7}-?\d(?![\da-f])/gi;
const WORD = /[^\s<>"',;:()]+/g;
/** With separators, or as ten digits with an area code of the country. */
const TELEPHONE = /(?<![\da-f])(?:(?:\(\d{3}\) ?|\d{3}[- ])\d{3}[- ]|\d{3}\.\d{3}\.|8[024]9\d{3})\d{4}(?![\da-f])/gi;
const HIDDEN = 'anonymous';
/** A shorter text, alone, may be a part of other words. */
const SHORTEST = 4;

/**
 * The value without the gateway's address, names, addresses, mail, telephone numbers, cédulas and certificates, also where the
 * authority repeats names in another case. Checksums stay those of the sent bytes.
 */
export function anonymised<Value extends { issuer: Issuer; gateway: Gateway }>(value: Value): Value {
  const names = new Set([value.issuer.name]);
  walk(value, (text) => {
    for (const [, element, name = ''] of text.matchAll(PERSONAL))
      for (const each of element === 'X509Certificate' ? [name, ...subjectOf(name)] : [name]) names.add(each);
    return text;
  });
  const forms = [...names]
    .filter((name) => name.length >= SHORTEST)
    .flatMap((name) => [name, name.toUpperCase(), name.toLowerCase()].flatMap(formsOf));
  const found = [...new Set(forms)].sort((a, b) => b.length - a.length).map(patternOf);
  const hidden = walk(value, (text) => {
    let hidden = text.replace(PERSONAL, (_, element: string) => `<${element}>${HIDDEN}<`);
    for (const pattern of found) hidden = hidden.replace(pattern, HIDDEN);
    return hidden
      .replace(WORD, (word) => (word.includes('@') ? HIDDEN : word))
      .replace(TELEPHONE, HIDDEN)
      .replace(CEDULA, (cedula) => cedula.replace(/\d/g, '0'));
  }) as Value;
  const { issuer, gateway } = hidden;
  return { ...hidden, issuer: { ...issuer, name: HIDDEN }, gateway: { ...gateway, url: HIDDEN } };
}

/** The texts of the subject of a certificate in Base64: the name of the signer, and what identifies them besides. */
function subjectOf(certificate: string): string[] {
  try {
    const { subject } = new X509Certificate(Buffer.from(certificate, 'base64')).toLegacyObject();
    return Object.values(subject)
      .flat()
      .filter((text) => text !== undefined);
  } catch {
    return [];
  }
}

/** Matches the text in any case. */
function patternOf(text: string): RegExp {
  // linear: the text is escaped, so the pattern repeats nothing.
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
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
