import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { XmlDocument } from 'libxml2-wasm';
import { examineJson, parseJson, writeXml } from '../src/index.js';
import { guardXml } from '../src/xml/guard.js';
import { usualCanonicalForm } from '../src/xml/usual-form.js';

const EXAMPLES = new URL('../../../examples/', import.meta.url);
const SIGNATURE =
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="urn:c"/><Reference URI=""><DigestValue>x=</DigestValue></Reference></SignedInfo></Signature>';

/** Our documents, with a prolog and as if signed. */
const DOCUMENTS = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.json'))
  .map((name) => {
    const { tree } = examineJson(parseJson(readFileSync(new URL(name, EXAMPLES))), { now: new Date() });
    const { output } = writeXml(tree!);
    return `<?xml version="1.0" encoding="utf-8"?>\n${output.replace(/<\/\w+>$/, (end) => SIGNATURE + end)}\n`;
  });

const PIECES =
  `| |&amp;|&#13;|&quot;|<!-- c -->|<?pi x?>|<![CDATA[x]]>| xmlns="http://x.y/z"| xmlns=""| a="b"| URI="u"|/|\r\n|\r|\t|\n|é|😀|:|xsd:| xsi:nil="true"| xmlns:p="http://p.q/r"|<p/>|<a></a>|>|"|'|-|.|1|<x Algorithm="1"/>|<x Algorithm="1"></x>|${SIGNATURE}|]]>|\u0085`.split(
    '|',
  );

/** The form by libxml2, or undefined for what is no document or is never asked about. */
function byLibxml2(text: string): { form: string | null; source: string } | undefined {
  const bytes = Buffer.from(text);
  let document: XmlDocument | undefined;
  try {
    const { source, hasComments, hasProcessingInstructions } = guardXml(bytes, 1_000_000);
    if (hasComments || hasProcessingInstructions) return undefined;
    document = XmlDocument.fromBuffer(bytes);
    return { form: canonical(document), source };
  } catch {
    return undefined;
  } finally {
    document?.dispose();
  }
}

function canonical(document: XmlDocument): string | null {
  try {
    return document.canonicalizeToString();
  } catch {
    return null;
  }
}

describe('the canonical form of usual documents', () => {
  it('is found for our own, and is that of libxml2', () => {
    for (const document of DOCUMENTS) {
      const expected = byLibxml2(document)!;
      if (!document.includes('&')) expect(usualCanonicalForm(expected.source)).toBe(expected.form);
    }
    expect(DOCUMENTS.filter((document) => usualCanonicalForm(document) !== null).length).toBeGreaterThan(10);
  });

  it('puts the declarations of the root in order', () => {
    const xsd = 'xmlns:xsd="http://www.w3.org/2001/XMLSchema"';
    const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
    expect(usualCanonicalForm(`<A ${xsi} ${xsd}><B>c</B></A>`)).toBe(`<A ${xsd} ${xsi}><B>c</B></A>`);
  });

  it('is that of libxml2 or left to it, whatever is put into a document', () => {
    let seed = 20261121;
    const next = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    let compared = 0;
    for (let round = 0; round < 6000; round++) {
      let text = DOCUMENTS[next(DOCUMENTS.length)]!;
      for (let change = next(2); change >= 0; change--) {
        const tag = text.indexOf('<', next(text.length));
        const end = text.indexOf('>', tag);
        const at = [tag, tag + 1, end, end - 1, end + 1, next(text.length)][next(6)]!;
        const piece = next(4) === 0 ? text.slice(tag, end + 1 + next(30)) : PIECES[next(PIECES.length)]!;
        text = text.slice(0, at) + piece + text.slice(at + (next(4) === 0 ? next(3) : 0));
      }
      const expected = byLibxml2(text);
      if (expected === undefined) continue;
      const form = usualCanonicalForm(expected.source);
      if (form === null) continue;
      compared++;
      if (form !== expected.form) throw new Error(`${JSON.stringify(text)} gives ${form}`);
    }
    expect(compared).toBeGreaterThan(300);
  });
});
