import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const stub = (file: string): string => fileURLToPath(new URL(`src/stubs/${file}`, import.meta.url));

export default defineConfig({
  plugins: [react()],
  resolve: {
    conditions: ['@intertie/source', 'module', 'browser', 'development|production'],
    // A third of the Markdown renderer's size, unused here.
    alias: { 'rehype-raw': stub('raw-as-text.ts'), 'tailwind-merge': stub('tailwind-merge.ts') },
  },
  build: {
    // The server package contains the page.
    outDir: '../../packages/server/dist/console',
    emptyOutDir: true,
    // Browsers with `light-dark()`, `oklch()` and CSS nesting, so that no style is rewritten.
    target: ['chrome123', 'edge123', 'firefox128', 'safari17.5'],
    // One file for the first view, instead of one per set of panes that share a module: browsers load six files at a time.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'first-view', tags: ['$initial'] }] } } },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
});
