import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createJiti } from 'jiti';
import { checkConfig, type IntertieConfig } from './config.ts';
import { IntertieError } from '../errors/intertie-error.ts';

const names = ['ts', 'mts', 'js', 'mjs'].map((ending) => `intertie.config.${ending}`);

/** Finds the configuration file of a folder, or resolves `file`. Undefined if the folder has none and none was named. */
export function findConfig(folder: string, file?: string): string | undefined {
  if (file === undefined) return names.map((name) => resolve(folder, name)).find((path) => existsSync(path));
  const path = resolve(folder, file);
  if (!existsSync(path)) throw new IntertieError('no-config', `The configuration file ${path} does not exist.`);
  return path;
}

/**
 * Loads a configuration file, without a cache, and the variables of the `.env` next to it that the process does not have. Jiti
 * loads TypeScript on Node versions that cannot. Without a configuration no `.env` is read, because it may belong to another program.
 */
export async function loadConfig(path: string): Promise<IntertieConfig> {
  const jiti = createJiti(import.meta.url, { moduleCache: false, fsCache: false, interopDefault: true });
  const variables = join(dirname(path), '.env');
  if (existsSync(variables)) process.loadEnvFile(variables);
  let loaded: unknown;
  try {
    loaded = await jiti.import(path, { default: true });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new IntertieError('no-config', `${path} could not be loaded: ${why}`, { cause });
  }
  const config = typeof loaded === 'function' ? await (loaded as () => unknown)() : loaded;
  try {
    checkConfig(config);
  } catch (error) {
    if (error instanceof IntertieError) throw new IntertieError(error.code, `${path}: ${error.message}`);
    throw error;
  }
  return config;
}
