import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether the page has to be built: it is missing, or its sources are newer. */
export async function isStale(page: string, folder: string): Promise<boolean> {
  const built = await stat(join(folder, 'index.html')).catch(() => undefined);
  if (built === undefined) return true;
  const files = (await readdir(page)).map((file) => join(page, file));
  const times = await Promise.all([...files, import.meta.filename].map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(...times) > built.mtimeMs;
}

/** Builds one page, one script and one style sheet. */
export async function buildPage(page: string, folder: string): Promise<void> {
  // Imported late: it is large, and most starts do not need it.
  const { build } = await import('vite');
  // A test runner sets another value, which would build half of React for development.
  process.env.NODE_ENV = 'production';
  await build({
    root: page,
    configFile: false,
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true, assetsDir: '.', chunkSizeWarningLimit: 2000 },
  });
}
