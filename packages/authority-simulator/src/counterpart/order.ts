import { parseXml, XmlRefused } from '@ecf/ecf-xml';
import type { Call } from '../http/call.js';

/** An order to the counterpart: the members of a JSON object or of an XML model, names in any case. */
export class Order {
  readonly #members: ReadonlyMap<string, string>;

  private constructor(members: Iterable<readonly [string, string]>) {
    this.#members = new Map([...members].map(([name, value]) => [name.toLowerCase(), value.trim()]));
  }

  /** Null: the body is neither. */
  static read({ headers, body }: Call): Order | null {
    const type = String(headers['content-type'] ?? '');
    return /xml/i.test(type) ? Order.#fromXml(body) : Order.#fromJson(body);
  }

  static #fromXml(body: Buffer): Order | null {
    try {
      const { text } = parseXml(body);
      // linear: each match ends behind the next `<`
      const leaves = text.matchAll(/<(\w+)>([^<]*)<\/\1>/g);
      return new Order([...leaves].map(([, name = '', value = '']) => [name, unescapeXml(value)]));
    } catch (error) {
      if (error instanceof XmlRefused) return null;
      throw error;
    }
  }

  static #fromJson(body: Buffer): Order | null {
    try {
      const value = JSON.parse(body.toString('utf8')) as unknown;
      if (typeof value !== 'object' || value === null) return null;
      return new Order(Object.entries(value).map(([name, member]) => [name, String(member ?? '')]));
    } catch {
      return null;
    }
  }

  /** Null: absent or empty. */
  get(name: string): string | null {
    return this.#members.get(name) || null;
  }
}

/** Canonical XML has these references only. */
function unescapeXml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
