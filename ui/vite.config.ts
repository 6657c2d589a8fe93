import { defineConfig } from 'vite';

// Pages are served from nested paths (/jobs/…), so asset addresses must be absolute.
export default defineConfig({
  base: '/',
  resolve: { conditions: ['svc-source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2022',
    cssTarget: ['chrome123', 'safari17.5', 'firefox121'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  server: { proxy: { '^/(api|extensions)': 'http://127.0.0.1:8600' } },
});
