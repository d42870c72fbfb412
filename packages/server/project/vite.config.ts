import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: 'page',
  plugins: [react()],
  build: { outDir: '../dist', emptyOutDir: true },
  server: {
    // The page and the server have one address, as behind a reverse proxy.
    proxy: { '/api': { target: process.env.INTERTIE_URL || 'http://127.0.0.1:4111' } },
  },
  test: { root: import.meta.dirname },
});
