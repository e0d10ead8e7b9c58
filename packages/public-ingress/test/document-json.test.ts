import { afterAll, describe, expect, it } from '@jest/globals';
import documentJson from '../src/document-json/document-json.js';
import { openDocumentJson } from '../src/document-json/open-document-json.js';

describe('documents as JSON', () => {
  const documents = openDocumentJson(() => undefined);
  afterAll(() => documents.close());

  it.each([
    ['200,000 empty elements', '<a/>'.repeat(200_000)],
    ['a million escaped characters', `<a>${'&amp;'.repeat(1_000_000)}</a>`],
    ['8 MB of one text', `<a>${'x'.repeat(8_000_000)}</a>`],
  ])('leave the event loop free where they are large: %s', async (_, content) => {
    const xml = Buffer.from(`<ECF>${content}</ECF>`);
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const text = await documents.toJson(xml);
    expect(turned).toBe(true);
    expect(text === documentJson(xml)).toBe(true);
  });

  it('are the same where they are small', async () => {
    expect(await documents.toJson(Buffer.from('<ECF><a>1 &lt; 2</a></ECF>'))).toBe('{"ECF":{"a":"1 < 2"}}');
  });
});
