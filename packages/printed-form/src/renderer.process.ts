// A process that renders printed forms, one after the other, for its parent (`createPrinter`). Typst's compiler cannot be
// interrupted and may need gigabytes for a long document, so it runs where it can be killed.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { parseSignatureDateTime } from '@ecf/domain';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { create, type Font } from 'fontkit';
import type { RenderRequest } from './printer.js';
import { qrSvg } from './qr.js';
import { printableTexts } from './text.js';

/** Above this number of lines a PDF has no tags: they would make it larger than the 10 MB that the authority takes. */
const MOST_TAGGED_LINES = 2000;

const memoryLimit = Number(process.argv[2]);
// Watches the memory from a thread, because the main thread is busy while it renders.
const WATCH = `setInterval(() => process.memoryUsage.rss() > ${memoryLimit} && process.kill(process.pid, 'SIGKILL'), 20)`;
new Worker(WATCH, { eval: true }).unref();

const require = createRequire(import.meta.url);
const fonts = [
  '400Regular/NotoSans_400Regular',
  '700Bold/NotoSans_700Bold',
  '400Regular_Italic/NotoSans_400Regular_Italic',
].map((name) => readFileSync(require.resolve(`@expo-google-fonts/noto-sans/${name}.ttf`)));
const glyphs = new Set((create(fonts[0] as Buffer) as Font).characterSet);
const folder = path.resolve('/printed-form');
const compiler = NodeCompiler.create({ workspace: folder, fontArgs: [{ fontBlobs: fonts }] });
compiler.addSource(
  path.join(folder, 'main.typ'),
  readFileSync(new URL('../templates/printed-form.typ', import.meta.url), 'utf8'),
);

process.on('message', ({ form, xml, format, logo }: RenderRequest) => {
  const shadow = (name: string, bytes: Uint8Array | string) =>
    compiler.mapShadow(path.join(folder, name), Buffer.from(bytes as Uint8Array));
  try {
    const file = logo && `logo.${logo.type}`;
    if (logo && file) shadow(file, logo.bytes);
    shadow('form.json', JSON.stringify({ ...printableTexts(form, glyphs), format, logo: file }));
    shadow('signed.xml', xml);
    shadow('qr.svg', qrSvg(form.address, 0));
    // The time of the signature, so that the same document gives the same bytes.
    const creationTimestamp = (parseSignatureDateTime(form.signedAt)?.getTime() ?? 0) / 1000;
    const tagged = form.lines.length <= MOST_TAGGED_LINES;
    const pdf = compiler.pdf(
      { mainFilePath: path.join(folder, 'main.typ'), resetRead: true },
      { pdfStandard: (tagged ? 'a-3a' : 'a-3b') as never, pdfTags: tagged, creationTimestamp },
    );
    compiler.evictCache(0);
    process.send?.({ pdf });
  } catch (error) {
    // Typst's errors have an empty message, and their text as the code: "0: failed to decode image (...)".
    const { message, code } = error as NodeJS.ErrnoException;
    process.send?.({ error: message || code });
  }
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
