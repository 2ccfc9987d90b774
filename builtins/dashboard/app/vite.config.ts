import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where a gateway under development listens; the development server hands its routes on. */
const GATEWAY = 'http://127.0.0.1:8080';
const ROUTES = ['/v1', '/admin', '/health', '/livez', '/readyz', '/metrics', '/openapi.json'];

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../dist', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'], // the first that know light-dark()
    modulePreload: { polyfill: false }, // it would be an inline script
    assetsInlineLimit: 0, // an asset within the page would need `data:` in the policy
    reportCompressedSize: false,
  },
  server: { proxy: Object.fromEntries(ROUTES.map((path) => [path, GATEWAY])) },
});
