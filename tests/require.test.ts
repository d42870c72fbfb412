import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { libraries, root, optionalPeers } from '../scripts/workspace.mjs';

const run = promisify(execFile);

// Vitest cannot be required. Tests import its suites.
const entries = libraries().flatMap((p) => p.entries.filter((e) => optionalPeers.get(e.specifier) !== 'vitest'));

describe.each(entries)('$specifier', ({ specifier }) => {
  it('returns the same module from require() and import', async () => {
    const program = `
      const required = require(${JSON.stringify(specifier)});
      import(${JSON.stringify(specifier)}).then((imported) => {
        const keys = Object.keys(imported);
        const differ = keys.filter((key) => required[key] !== imported[key]);
        console.log(JSON.stringify({ required: Object.keys(required).filter((k) => k !== '__esModule'), imported: keys, differ }));
      });`;
    const { stdout } = await run(process.execPath, ['--input-type=commonjs', '--eval', program], { cwd: root }).catch(
      (error: Error & { stderr?: string }) => {
        throw new Error(`${specifier} cannot be required (is it built? \`npm run build\`):\n${error.stderr}`);
      },
    );
    const output = JSON.parse(stdout) as { required: string[]; imported: string[]; differ: string[] };
    expect(output.required.toSorted()).toEqual(output.imported.toSorted());
    expect(output.differ).toEqual([]);
  });
});
