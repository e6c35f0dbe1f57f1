import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where the API listens while somebody works on the page with `npx vite`. */
const API = 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/dashboard/',
  plugins: [react()],
  resolve: { conditions: ['@undolog/source', 'module', 'browser', 'production'] },
  server: { proxy: { '/v1': API, '/dashboard/session': API } },
  build: {
    target: 'es2023',
    // The page's policy allows no inline code and no addresses that hold data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What counts is how much comes over the wire, and a test holds that.
    chunkSizeWarningLimit: 1000,
  },
});
