import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const lean = (file: string): string => fileURLToPath(new URL(`src/lean/${file}`, import.meta.url));

export default defineConfig({
  plugins: [react()],
  resolve: {
    conditions: ['@intertie/source', 'module', 'browser', 'development|production'],
    // A third of what the Markdown renderer weighs, and nothing of it is used here.
    alias: { 'rehype-raw': lean('raw-as-text.ts'), 'tailwind-merge': lean('tailwind-merge.ts') },
  },
  build: {
    // The server brings the page along.
    outDir: '../../packages/server/dist/console',
    emptyOutDir: true,
    // What has `light-dark()`, `oklch()` and nesting, so that nothing of the style is rewritten.
    target: ['chrome123', 'edge123', 'firefox128', 'safari17.5'],
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
});
