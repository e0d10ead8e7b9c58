import { crc32, deflateSync } from 'node:zlib';
import { LogoError, MOST_LOGO_BYTES, readLogo } from '@ecf/logo';
import { describe, expect, it } from '@jest/globals';
import { encode } from 'jpeg-js';
import { PNG } from 'pngjs';

const pixels = (width: number, height: number) => Buffer.alloc(4 * width * height, 0x80);
const jpeg = (width = 30, height = 20) => encode({ width, height, data: pixels(width, height) }, 80).data;

function png(width = 30, height = 20, options: { bitDepth?: 8 | 16; colorType?: 0 | 2 | 4 | 6 } = {}): Buffer {
  const image = new PNG({ width, height });
  image.data = pixels(width, height);
  return PNG.sync.write(image, options);
}

function chunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG with one byte for each pixel, written by hand. */
function rawPng(
  width: number,
  height: number,
  options: { interlace?: number; idat?: Uint8Array; extra?: Buffer } = {},
) {
  const { interlace = 0, idat = deflateSync(Buffer.alloc((width + 1) * height)), extra = Buffer.alloc(0) } = options;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[12] = interlace;
  const chunks = [chunk('IHDR', header), extra, chunk('IDAT', idat), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([png().subarray(0, 8), ...chunks]);
}

/** Where the frame header of a baseline JPEG begins. */
const frameAt = (file: Buffer) => file.indexOf(Buffer.from([0xff, 0xc0]));

function jpegWith(offset: number, value: number, size: 1 | 2 = 1): Buffer {
  const file = Buffer.from(jpeg());
  file.writeUIntBE(value, frameAt(file) + offset, size);
  return file;
}

const profile = (bytes: Uint8Array) => chunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), deflateSync(bytes)]));
const million = deflateSync(Buffer.alloc(64 * 1024 * 1024));
const PROGRESSIVE = Buffer.from(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wgARCAAIABgDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAQD/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEAMQAAAB3gC8H//EABgQAAMBAQAAAAAAAAAAAAAAAAADExEj/9oACAEBAAEFAm0O2qof/8QAFBEBAAAAAAAAAAAAAAAAAAAAEP/aAAgBAwEBPwE//8QAFBEBAAAAAAAAAAAAAAAAAAAAEP/aAAgBAgEBPwE//8QAFBABAAAAAAAAAAAAAAAAAAAAEP/aAAgBAQAGPwJ//8QAFxAAAwEAAAAAAAAAAAAAAAAAABFRkf/aAAgBAQABPyGDMijP/9oADAMBAAIAAwAAABDzz//EABQRAQAAAAAAAAAAAAAAAAAAABD/2gAIAQMBAT8QP//EABQRAQAAAAAAAAAAAAAAAAAAABD/2gAIAQIBAT8QP//EABcQAAMBAAAAAAAAAAAAAAAAAAABIXH/2gAIAQEAAT8Qqy1FUX//2Q==',
  'base64',
);

describe('a logo', () => {
  it.each<[string, Buffer, 'png' | 'jpg']>([
    ['a PNG', png(), 'png'],
    ['a grey PNG', png(30, 20, { colorType: 0 }), 'png'],
    ['a PNG with 16 bits', png(30, 20, { bitDepth: 16 }), 'png'],
    ['a PNG with a colour profile', rawPng(30, 20, { extra: profile(Buffer.alloc(3_000)) }), 'png'],
    ['a JPEG', jpeg(), 'jpg'],
  ])('may be %s.', (_, bytes, type) => {
    expect(readLogo(bytes)).toEqual({ type, bytes, width: 30, height: 20 });
  });

  it('may be a progressive JPEG.', () => {
    expect(readLogo(PROGRESSIVE)).toMatchObject({ type: 'jpg', width: 24, height: 8 });
  });

  it.each<[string, Uint8Array, LogoError['code'], RegExp]>([
    ['has more than 1 MiB', Buffer.alloc(MOST_LOGO_BYTES + 1), 'too_large', /1048576 bytes; save it smaller/],
    ['is empty', Buffer.alloc(0), 'not_png_or_jpeg', /neither a PNG nor a JPEG/],
    ['is a GIF', Buffer.from('GIF89a'), 'not_png_or_jpeg', /save it as one of them/],
    ['is an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'not_png_or_jpeg', /neither/],
    ['is a PNG of 9000 by 9000 pixels', rawPng(9_000, 9_000), 'too_many_pixels', /9000 by 9000 pixels/],
    ['is a PNG without pixels', rawPng(0, 5, { idat: deflateSync(Buffer.alloc(5)) }), 'too_many_pixels', /0 by 5/],
    ['is a JPEG that states 65,535 lines', jpegWith(5, 65_535, 2), 'damaged', /Save it again/],
    ['is a JPEG that states 9000 by 65535 pixels', jpegWithSides(9_000, 65_535), 'too_many_pixels', /9000 by 65535/],
    ['is an animated PNG', rawPng(3, 3, { extra: chunk('acTL', Buffer.alloc(8)) }), 'animated', /single picture/],
    ['is an interlaced bomb', rawPng(3, 3, { interlace: 1, idat: million }), 'interlaced', /without interlacing/],
    ['has a colour profile that is a bomb', rawPng(3, 3, { extra: profile(Buffer.alloc(2 ** 21)) }), 'damaged', /PNG/],
    ['is a JPEG in CMYK', jpegWith(9, 4), 'cmyk', /RGB/],
    ['is a PNG that is cut off', png().subarray(0, 60), 'damaged', /The PNG cannot be decoded/],
    ['is a PNG with a wrong check sum', changed(png(), -5), 'damaged', /cut off or damaged/],
    ['is a PNG with too few pixels', rawPng(30, 20, { idat: deflateSync(Buffer.alloc(9)) }), 'damaged', /PNG/],
    ['is a PNG with text after its end', Buffer.concat([png(), Buffer.from('<script>')]), 'damaged', /PNG/],
    ['is only the beginning of a PNG', png().subarray(0, 8), 'damaged', /PNG/],
    ['is a JPEG that is cut off', jpeg().subarray(0, -9), 'damaged', /The JPEG cannot be decoded/],
    ['is only the beginning of a JPEG', Buffer.from([0xff, 0xd8, 0xff]), 'damaged', /JPEG/],
  ])('is refused if it %s.', (_, bytes, code, message) => {
    const found = caught(() => readLogo(bytes));
    expect([found.code, found.message]).toEqual([code, expect.stringMatching(message)]);
  });

  it('is refused without decompressing more than its dimensions need.', () => {
    expect(caught(() => readLogo(rawPng(3, 3, { idat: million }))).code).toBe('damaged');
  });
});

function jpegWithSides(width: number, height: number): Buffer {
  const file = jpegWith(5, height, 2);
  file.writeUInt16BE(width, frameAt(file) + 7);
  return file;
}

function changed(file: Buffer, at: number): Buffer {
  const other = Buffer.from(file);
  other.writeUInt8((other.at(at) ?? 0) ^ 1, other.length + at);
  return other;
}

function caught(run: () => unknown): LogoError {
  try {
    run();
  } catch (error) {
    if (error instanceof LogoError) return error;
    throw error;
  }
  throw new Error('the logo was accepted');
}
