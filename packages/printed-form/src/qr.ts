import { PNG } from 'pngjs';
import { encode } from 'uqr';

/** Modules of white around the symbol, as ISO/IEC 18004 requires. */
const QUIET = 4;

/**
 * The QR code of an address: version 8 as the authority asks for, or the next that holds the address. Rows of modules, true is
 * black. Without its quiet zone.
 */
function modules(address: string): boolean[][] {
  return encode(address, { ecc: 'M', minVersion: 8, border: 0 }).data;
}

/** The QR code as an SVG of one unit per module; `quiet` is the width of its quiet zone in modules. */
export function qrSvg(address: string, quiet = QUIET): string {
  const rows = modules(address);
  const size = rows.length + 2 * quiet;
  const path = rows
    .flatMap((row, y) => row.map((black, x) => (black ? `M${x + quiet} ${y + quiet}h1v1h-1z` : '')))
    .join('');
  const box = `viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box}><path fill="#fff" d="M0 0h${size}v${size}h-${size}z"/><path d="${path}"/></svg>`;
}

/** The QR code with its quiet zone as a grey PNG, `scale` pixels per module. */
export function qrPng(address: string, scale = 8): Uint8Array {
  const rows = modules(address);
  const size = (rows.length + 2 * QUIET) * scale;
  const image = new PNG({ width: size, height: size, colorType: 0 });
  image.data.fill(255);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (!rows[Math.floor(y / scale) - QUIET]?.[Math.floor(x / scale) - QUIET]) continue;
      image.data.fill(0, 4 * (y * size + x), 4 * (y * size + x) + 3);
    }
  }
  return PNG.sync.write(image, { colorType: 0 });
}
