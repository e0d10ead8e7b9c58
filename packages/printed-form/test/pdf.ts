import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import { PDFiumLibrary } from '@hyzyla/pdfium';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

const decoder = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'));
prepareZXingModule({
  overrides: { wasmBinary: decoder.buffer.slice(decoder.byteOffset, decoder.byteOffset + decoder.length) },
});

/** Pixels per millimetre of a page that is rendered at 144 per inch. */
const SCALE = 2;
const PER_MM = (72 * SCALE) / 25.4;

/** A QR code on a page: its text, and in millimetres its width and the distances of its edges from those of the page. */
export interface FoundCode {
  readonly text: string;
  readonly width: number;
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
}

/** The distance of the first ink of the first page from its upper edge, in millimetres. */
export async function topOf(pdf: Uint8Array): Promise<number> {
  const library = await PDFiumLibrary.init();
  try {
    const document = await library.loadDocument(pdf);
    const { data, width } = await document.getPage(0).render({ scale: SCALE, render: 'bitmap' });
    document.destroy();
    // Four bytes for each pixel.
    return Math.floor(data.findIndex((byte) => byte < 128) / (4 * width)) / PER_MM;
  } finally {
    library.destroy();
  }
}

/** The text of each page. */
export async function textsOf(pdf: Uint8Array): Promise<string[]> {
  const library = await PDFiumLibrary.init();
  try {
    const document = await library.loadDocument(pdf);
    const texts = Array.from(document.pages(), (page) => page.getText());
    document.destroy();
    return texts;
  } finally {
    library.destroy();
  }
}

/** Renders pages of a PDF and reads the QR code of each. */
export async function codesOf(pdf: Uint8Array): Promise<FoundCode[]> {
  const library = await PDFiumLibrary.init();
  try {
    const document = await library.loadDocument(pdf);
    const found: FoundCode[] = [];
    for (const page of document.pages()) {
      const { data, width, height } = await page.render({ scale: SCALE, render: 'bitmap' });
      const image = { data: new Uint8ClampedArray(data), width, height, colorSpace: 'srgb' } as ImageData;
      for (const { text, position } of await readBarcodes(image, { formats: ['QRCode'] })) {
        found.push({
          text,
          width: (position.topRight.x - position.topLeft.x) / PER_MM,
          left: position.topLeft.x / PER_MM,
          right: (width - position.topRight.x) / PER_MM,
          bottom: (height - position.bottomLeft.y) / PER_MM,
        });
      }
    }
    document.destroy();
    return found;
  } finally {
    library.destroy();
  }
}

/** A file that the catalogue of a PDF names as associated. */
export interface AttachedFile {
  readonly name: string;
  readonly relationship: string;
  readonly bytes: Buffer;
}

/** The associated files of a PDF, which Typst writes as objects outside of object streams. */
export function attachmentsOf(pdf: Uint8Array): AttachedFile[] {
  const text = Buffer.from(pdf).toString('latin1');
  const objectOf = (number: string) => {
    const start = text.indexOf(`\n${number} 0 obj\n`);
    return text.slice(start, text.indexOf('\nendobj', start));
  };
  const valueIn = (object: string, pattern: RegExp) => pattern.exec(object)?.[1] ?? '';
  const catalogue = text.slice(text.lastIndexOf('/Type /Catalog'));
  return [...valueIn(catalogue, /\/AF \[([^\]]*)\]/).matchAll(/(\d+) 0 R/g)].map(([, number]) => {
    const specification = objectOf(number as string);
    const file = objectOf(valueIn(specification, /\/EF <<\s*\/F (\d+) 0 R/));
    const start = file.indexOf('stream\n') + 'stream\n'.length;
    const stream = file.slice(start, start + Number(valueIn(file, /\/Length (\d+)/)));
    return {
      name: valueIn(specification, /\/UF \(([^)]*)\)/),
      relationship: valueIn(specification, /\/AFRelationship \/(\w+)/),
      bytes: inflateSync(Buffer.from(stream, 'latin1')),
    };
  });
}
