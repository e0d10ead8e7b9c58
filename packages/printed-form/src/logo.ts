import { imageSize } from 'image-size';

/** A logo that the renderer may decode: its dimensions are bounded. */
export interface Logo {
  readonly type: 'png' | 'jpg';
  readonly bytes: Uint8Array;
  /** Width divided by height. */
  readonly ratio: number;
}

/** Most pixels of a logo. Decoded it takes four bytes per pixel. */
export const MOST_LOGO_PIXELS = 4_000_000;
export const MOST_LOGO_BYTES = 1024 * 1024;

/**
 * Reads the kind and the dimensions of a PNG or JPEG without decoding it. Throws RangeError with a sentence for the user if it is
 * not such an image or too large.
 */
export function readLogo(bytes: Uint8Array): Logo {
  if (bytes.length > MOST_LOGO_BYTES) throw new RangeError('The logo has more than 1 MiB; send a smaller image.');
  const { type, width, height } = dimensions(bytes);
  if (type !== 'png' && type !== 'jpg') throw new RangeError('The logo is not a PNG or JPEG image.');
  if (width === 0 || height === 0 || width * height > MOST_LOGO_PIXELS)
    throw new RangeError(`The logo has ${width} by ${height} pixels; at most ${MOST_LOGO_PIXELS} pixels are allowed.`);
  return { type, bytes, ratio: width / height };
}

function dimensions(bytes: Uint8Array): { type?: string; width: number; height: number } {
  try {
    return imageSize(bytes);
  } catch {
    return { width: 0, height: 0 };
  }
}
