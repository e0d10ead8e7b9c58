import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist/app',
    // The gateway's policy allows no inline content.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // Without `build`, shows changes of this package immediately, on a gateway that runs at this address.
  server: { proxy: { '^/(?!console/(?!session))': 'http://127.0.0.1:8080' } },
});
