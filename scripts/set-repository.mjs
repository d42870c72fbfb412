// @ts-check
// Names the repository of the release workflow in every package. npm accepts provenance only if the two match.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { libraries } from './workspace.mjs';

const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
if (!server || !repository) {
  console.error('GITHUB_SERVER_URL and GITHUB_REPOSITORY are not set. Publish with .github/workflows/release.yml.');
  process.exit(1);
}
for (const { path, folder } of libraries()) {
  const file = join(path, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  manifest.repository = { type: 'git', url: `git+${server}/${repository}.git`, directory: folder };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
