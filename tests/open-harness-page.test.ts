import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

it('builds examples/open-harness as one script without Node.js modules', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-page-'));
  const warnings: string[] = [];
  try {
    await build({
      root: join(root, 'examples/open-harness'),
      configFile: false,
      logLevel: 'silent',
      build: {
        outDir: folder,
        emptyOutDir: true,
        assetsDir: '.',
        rolldownOptions: { onLog: (_level, { message }) => void warnings.push(message) },
      },
    });
    const scripts = readdirSync(folder).filter((file) => file.endsWith('.js'));
    expect(scripts).toHaveLength(1);
    const script = readFileSync(join(folder, scripts[0]!), 'utf8');
    expect(script).toContain('Shall I publish it?');
    expect(script).not.toMatch(/from\s*["']node:/);
    expect(warnings.filter((message) => message.includes('externalized'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
