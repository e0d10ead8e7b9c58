import {
  buyerNameSchema,
  deliveryStatusSchema,
  EVENT_TYPES,
  type EventType,
  MESSAGE_CODE,
  MOST_RUNS,
  RECEIPT_NUMBER,
  referenceSchema,
} from '@ecf/contracts';
import { INVOICE_STATUSES, isRnc } from '@ecf/domain';
import { ListingParameters } from '@ecf/http';
import type { DeliveryStatus, InvoiceCriteria } from './invoices/ports.js';

const SHA256 = /^[0-9a-fA-F]{64}$/;

/** The parameters of the customers' requests. */
export class Parameters extends ListingParameters {
  /** The required header `rnc-issuing`. */
  issuerHeader(): string {
    return this.headerRnc('rnc-issuing');
  }

  /** `limit` 1 to 1000, default 200; `offset` from 0, default 0. */
  override page(): { limit: number; offset: number } {
    return super.page(1_000, 200);
  }

  /** Which documents of the period are wanted. */
  invoiceCriteria(): InvoiceCriteria {
    return {
      ...this.criteria(),
      status: this.word('status', INVOICE_STATUSES),
      buyerRnc: this.optionalRnc('buyer_rnc'),
      buyerName: this.#text(
        'buyer_name',
        (text) => buyerNameSchema.safeParse(text).success,
        'part of a name has 1 to 150 characters',
      ),
      deliveryStatuses: this.#deliveryStatuses(),
      messageCode: this.#text(
        'message_code',
        (text) => MESSAGE_CODE.test(text),
        'a code has 1 to 20 letters, digits, - or .',
      ),
      modifiedEncf: this.#text(
        'modified_encf',
        (text) => RECEIPT_NUMBER.test(text),
        'the number of a fiscal receipt is a letter and 10 to 18 digits',
      ),
      superseded: this.word('superseded', ['true', 'false']) === 'true' ? true : null,
      reference: this.#text(
        'reference',
        (text) => referenceSchema.safeParse(text).success,
        'a reference has 1 to 100 printable ASCII characters',
      ),
    };
  }

  /** A text of the query; a wrong one is reported with the rule. */
  #text(name: string, isRight: (text: string) => boolean, rule: string): string | null {
    const text = this.query(name);
    if (text === null || isRight(text)) return text;
    this.wrong(['query', name], rule, name);
    return null;
  }

  #deliveryStatuses(): readonly DeliveryStatus[] | null {
    const { options } = deliveryStatusSchema;
    return this.#words('delivery_status', options, `delivery_status has states, separated by commas: ${options}`);
  }

  /** Words of the query, separated by commas; null without the parameter. */
  #words<W extends string>(name: string, words: readonly W[], rule: string): readonly W[] | null {
    const text = this.query(name);
    if (text === null) return null;
    const given = text.split(',').map((word) => word.trim());
    const isWord = (word: string): word is W => (words as readonly string[]).includes(word);
    if (given.every(isWord)) return [...new Set(given)].sort();
    this.wrong(['query', name], rule, 'enum');
    return null;
  }

  /** A required eNCF of a consumer invoice in the query. */
  consumerEncf(): string {
    const text = this.query('encf');
    if (text === null) return this.missing(['query', 'encf']);
    const encf = this.numberIn(['query', 'encf'], text);
    if (encf === '' || encf.startsWith('E32')) return encf;
    return this.wrong(['query', 'encf'], 'a consumer invoice has type 32, so its eNCF begins with E32', 'ecf_type');
  }

  /** A certification run; null = the present one. */
  run(): number | null {
    return this.query('run') === null ? null : this.integer('run', 1, MOST_RUNS, 1);
  }

  /** The path's RNC. */
  pathRnc(): string {
    const text = String(this.req.params.rnc ?? '');
    return isRnc(text) ? text : this.wrong(['path', 'rnc'], 'an RNC has 9 or 11 digits', 'rnc');
  }

  /** Six characters of base64; an unescaped plus sign arrives as a blank. */
  securityCode(): string {
    const name = 'security_code';
    const text = this.query(name);
    if (text === null) return this.missing(['query', name]);
    const code = text.replaceAll(' ', '+');
    return /^[\x21-\x7e]{1,64}$/.test(code)
      ? code
      : this.wrong(
          ['query', name],
          'the security code is the six characters printed under the QR code',
          'security_code',
        );
  }

  /** The place in the feed after which the answer begins. */
  after(): string | null {
    return this.query('after');
  }

  /** Types of events, separated by commas; null = all. */
  eventTypes(): readonly EventType[] | null {
    return this.#words('types', EVENT_TYPES, `types has names of event types, separated by commas: ${EVENT_TYPES}`);
  }

  optionalSha256(): string | null {
    const text = this.query('sha256');
    if (text === null) return null;
    return SHA256.test(text)
      ? text.toLowerCase()
      : this.wrong(['query', 'sha256'], 'SHA-256 has 64 hex digits', 'sha256');
  }

  /** The kind of document: `ecf` (default) or `rfce`. */
  document(): 'ecf' | 'rfce' {
    const text = this.query('document')?.toLowerCase() ?? 'ecf';
    if (text === 'ecf' || text === 'rfce') return text;
    this.wrong(['query', 'document'], 'document is ecf or rfce', 'enum');
    return 'ecf';
  }
}
