import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['@intertie/source', 'module', 'browser', 'development|production'] },
  build: {
    // The server brings the page along.
    outDir: '../../packages/server/dist/console',
    emptyOutDir: true,
    // What has `light-dark()`, `oklch()` and nesting, so that nothing of the style is rewritten.
    target: ['chrome123', 'edge123', 'firefox128', 'safari17.5'],
    reportCompressedSize: false,
  },
});
