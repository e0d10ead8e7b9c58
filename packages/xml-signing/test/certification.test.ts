import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DocumentNode } from '@ecf/domain';
import { checkJson, checkXml, parseJson, parseXml, readXml, writeXml } from '@ecf/ecf-xml';
import { describe, expect, it } from '@jest/globals';
import { DOMParser } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { signXml, verifyXml } from '../src/index.js';
import { certificate, issued, now } from './samples.js';

/** The documents of an official certification, stored beside the repository. */
const folder = fileURLToPath(new URL('../../../../shared/certification/', import.meta.url));
const present = existsSync(folder);
if (!present) console.warn(`${folder} is absent: its documents are not signed`);

const files = present
  ? ['ecf', 'rfce', 'acecf'].flatMap((kind) => readdirSync(`${folder}${kind}`).map((name) => `${kind}/${name}`))
  : ['none'];

describe('documents of the writer', () => {
  (present ? it : it.skip).each(files)('%s', async (name) => {
    const { tree } = checkJson(parseJson(readFileSync(folder + name)));
    const { xml } = await signXml(writeXml(tree as DocumentNode), certificate);

    const element = new DOMParser()
      .parseFromString(xml, 'text/xml')
      .getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature')[0];
    const verifier = new SignedXml({ publicCert: issued.pem });
    verifier.loadSignature(element as unknown as Node);
    expect(verifier.checkSignature(xml)).toBe(true);

    const parsed = parseXml(Buffer.from(xml));
    const { signature, canonical, verified } = verifyXml(parsed, now);
    expect([signature, canonical]).toEqual(['valid', 'as-is']);
    expect(checkXml(parsed).faults).toEqual([]);
    expect(readXml(verified!)).toEqual(tree);

    const indented = verifyXml(Buffer.from(xml.replace(/></g, '>\r\n\t<')), now);
    expect(indented.canonical).toBe('whitespace-dropped');
    expect(readXml(indented.verified!)).toEqual(tree);
  });
});
