import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Writes each asset beside itself as `.gz`, which the gateway sends to browsers. */
const compressed = {
  name: 'compressed',
  writeBundle({ dir }, bundle) {
    for (const name of Object.keys(bundle).filter((name) => /\.(?:js|css)$/.test(name))) {
      const file = path.join(dir, name);
      fs.writeFileSync(`${file}.gz`, gzipSync(fs.readFileSync(file), { level: 9 }));
    }
  },
};

export default defineConfig({
  base: '/console/',
  plugins: [react(), compressed],
  build: {
    outDir: 'dist/app',
    // The gateway's policy allows no inline content.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // Without `build`, shows changes of this package immediately, on a gateway that runs at this address.
  server: { proxy: { '^/(?!console/(?!session))': 'http://127.0.0.1:8080' } },
});
