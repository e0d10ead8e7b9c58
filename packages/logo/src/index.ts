import { inflateSync } from 'node:zlib';
import { decode } from 'jpeg-js';
import { PNG } from 'pngjs';

/** A logo that can be printed: it was decoded once. */
export interface Logo {
  readonly type: 'png' | 'jpg';
  readonly bytes: Uint8Array;
  /** Pixels as stored; an orientation that a JPEG states is not applied. */
  readonly width: number;
  readonly height: number;
}

export const MOST_LOGO_BYTES = 1024 * 1024;
/** Most pixels of a logo. Decoded, a pixel takes four bytes. */
export const MOST_LOGO_PIXELS = 4_000_000;
/** Most bytes of a PNG's colour profile when it is decompressed; that of a printer has half of it. */
const MOST_PROFILE_BYTES = 1024 * 1024;

/** Why a picture is not a logo; the message is a sentence for the user. */
export class LogoError extends Error {
  override readonly name = 'LogoError';

  constructor(
    readonly code: 'too_large' | 'not_png_or_jpeg' | 'too_many_pixels' | 'animated' | 'interlaced' | 'cmyk' | 'damaged',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Reads a PNG or JPEG and decodes it once, after its dimensions were bounded. It takes up to a second for the largest picture, so
 * servers run it in a thread. Throws LogoError.
 */
export function readLogo(bytes: Uint8Array): Logo {
  if (bytes.length > MOST_LOGO_BYTES)
    throw new LogoError('too_large', `The logo has more than ${MOST_LOGO_BYTES} bytes; save it smaller.`);
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const type = typeOf(file);
  if (type === null)
    throw new LogoError('not_png_or_jpeg', 'The logo is neither a PNG nor a JPEG; save it as one of them.');
  try {
    return { type, bytes, ...(type === 'png' ? readPng(file) : readJpeg(file)) };
  } catch (cause) {
    if (cause instanceof LogoError) throw cause;
    throw new LogoError('damaged', `The ${NAMES[type]} cannot be decoded: it is cut off or damaged. Save it again.`, {
      cause,
    });
  }
}

const NAMES = { png: 'PNG', jpg: 'JPEG' } as const;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function typeOf(file: Buffer): Logo['type'] | null {
  if (file.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'png';
  return file[0] === 0xff && file[1] === 0xd8 && file[2] === 0xff ? 'jpg' : null;
}

interface Dimensions {
  readonly width: number;
  readonly height: number;
}

function bounded(dimensions: Dimensions): Dimensions {
  const { width, height } = dimensions;
  if (width > 0 && height > 0 && width * height <= MOST_LOGO_PIXELS) return dimensions;
  throw new LogoError(
    'too_many_pixels',
    `The logo has ${width} by ${height} pixels. It is printed at most 50 mm wide; save it with at most ${MOST_LOGO_PIXELS} pixels.`,
  );
}

/** Values of a pixel by the colour type of a PNG. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

function readPng(file: Buffer): Dimensions {
  const dimensions = bounded({ width: file.readUInt32BE(16), height: file.readUInt32BE(20) });
  const [depth, colorType, interlace] = [file.readUInt8(24), file.readUInt8(25), file.readUInt8(28)];
  // Nothing bounds how far pngjs decompresses an interlaced picture.
  if (interlace !== 0) throw new LogoError('interlaced', 'The PNG is interlaced; save it without interlacing.');
  const rows: Buffer[] = [];
  for (const { name, data } of chunksOf(file)) {
    if (name === 'acTL') throw new LogoError('animated', 'The PNG is animated; save a single picture.');
    // The renderer decompresses it for each document.
    if (name === 'iCCP') inflateSync(data.subarray(data.indexOf(0) + 2), { maxOutputLength: MOST_PROFILE_BYTES });
    if (name === 'IDAT') rows.push(data);
  }
  const length = dimensions.height * (1 + Math.ceil((dimensions.width * depth * (CHANNELS[colorType] ?? 0)) / 8));
  // pngjs fills missing rows.
  if (inflateSync(Buffer.concat(rows), { maxOutputLength: length }).length < length)
    throw new RangeError('rows are missing');
  PNG.sync.read(file);
  return dimensions;
}

function* chunksOf(file: Buffer): Generator<{ name: string; data: Buffer }> {
  for (let at = PNG_SIGNATURE.length; at < file.length; ) {
    const end = at + 8 + file.readUInt32BE(at);
    yield { name: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, end) };
    at = end + 4;
  }
}

function readJpeg(file: Buffer): Dimensions {
  const { components, ...dimensions } = frameOf(file);
  bounded(dimensions);
  if (components === 4)
    throw new LogoError(
      'cmyk',
      'The JPEG has CMYK colours, which PDF/A does not allow here; save it with RGB colours.',
    );
  decode(file, { tolerantDecoding: false, maxResolutionInMP: MOST_LOGO_PIXELS / 1e6, maxMemoryUsageInMB: 128 });
  return dimensions;
}

/** The first frame header of a JPEG. */
function frameOf(file: Buffer): Dimensions & { components: number } {
  for (let at = 2; file[at] === 0xff; ) {
    const marker = file.readUInt8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return {
        height: file.readUInt16BE(at + 5),
        width: file.readUInt16BE(at + 7),
        components: file.readUInt8(at + 9),
      };
    // 0xff before a marker fills.
    at += marker === 0xff ? 1 : 2 + file.readUInt16BE(at + 2);
  }
  throw new RangeError('no frame header');
}
