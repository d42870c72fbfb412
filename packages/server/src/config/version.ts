import { readFileSync } from 'node:fs';

const { version: read } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Version of this package. */
export const version: string = read;
