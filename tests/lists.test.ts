import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { agentKinds } from '../packages/server/src/agent-kinds.ts';
import { protocols } from '../packages/server/src/protocols.ts';
import * as server from '../packages/server/src/index.ts';
import { filesIn, root } from '../scripts/workspace.mjs';

/** Names that are also words of Intertie, or of the library that the server and the console are built on. */
const commonNames = new Set([
  'canonical',
  'model',
  'tape',
  // The npm scope of the AI SDK.
  'ai-sdk',
]);

/** Files that may contain names of protocols and runtimes, with the reason. */
const exceptions: ReadonlyArray<readonly [path: RegExp, reason: string]> = [
  [/^packages\/server\/src\/(?:protocols|agent-kinds)\.ts$/, 'the lists of the server'],
  [/^apps\/console\/src\/(tape-)?protocols\.ts$/, 'the lists of the console'],
  [/^packages\/server\/src\/demo\//, 'the texts of the demo'],
  [/^apps\/console\/src\/welcome\/first-run/, 'the recorded run of the welcome page'],
];

const names = [
  ...protocols.map(({ name }) => name),
  ...agentKinds.flatMap(({ name, functionName }) => [name, functionName.replaceAll(/[A-Z]/g, '-$&').toLowerCase()]),
].filter((name) => !commonNames.has(name));

/** Matches a name in any spelling of code and text: `ag-ui`, `AG-UI`, `agUi`, `AGUI`, but not `mail` in `email` or `mailto`. */
function toPattern(name: string): RegExp {
  const spellings = name.split('-').map((word, index) => {
    const capitalized = word[0]!.toUpperCase() + word.slice(1);
    return `(?:${index === 0 ? '(?<![A-Za-z])' : ''}${word}|${capitalized}|${word.toUpperCase()})`;
  });
  return new RegExp(`${spellings.join('[-_ ]?')}(?![a-z])`);
}

const patterns = [...new Set(names)].map((name) => ({ name, pattern: toPattern(name) }));
const findNames = (text: string): string[] =>
  patterns.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name);

describe.each(['packages/server/src', 'apps/console/src'])('%s', (folder) => {
  it('names protocols and runtimes only in the lists and the demo', () => {
    const files = filesIn(join(root, folder)).filter((file) => /\.tsx?$/.test(file) && !/\.test\./.test(file));
    const found = files
      .map((file) => `${folder}/${file}`)
      .filter((path) => !exceptions.some(([pattern]) => pattern.test(path)))
      .flatMap((path) =>
        readFileSync(join(root, path), 'utf8')
          .split('\n')
          .flatMap((line, index) => findNames(line).map((name) => `${path}:${index + 1}: ${name}: ${line.trim()}`)),
      );
    expect(found).toEqual([]);
  });
});

it('finds names in every spelling', () => {
  expect(findNames("import { agUi } from '@intertie/ag-ui'")).toEqual(['ag-ui']);
  expect(findNames('createAGUIHandler AG-UI examineMAIL OpenHarness')).toEqual(['ag-ui', 'mail', 'open-harness']);
  expect(findNames('MAIL_BASE_URL UI message stream')).toEqual(['ui-message-stream', 'mail']);
  expect(findNames('sendEmail mailto: UIMessage open the harness')).toEqual([]);
});

it('exports the function of every kind of agent', () => {
  const exported = server as unknown as { [name: string]: unknown };
  for (const { functionName, define } of agentKinds) expect(exported[functionName]).toBe(define);
});

it.each([
  ['protocols', protocols.flatMap(({ name, aliases = [] }) => [name, ...aliases])],
  ['agent kinds', agentKinds.map(({ name }) => name)],
  ['templates', agentKinds.flatMap(({ template }) => template?.name ?? [])],
  ['message formats', protocols.flatMap(({ messages }) => messages?.format ?? [])],
  [
    'endpoints',
    protocols.flatMap(({ endpoints }) => (endpoints?.routes ?? []).map(({ method, path }) => `${method} ${path}`)),
  ],
])('gives every name once: %s', (_, list) => {
  expect(list).toEqual([...new Set(list)]);
});

it('lists every protocol in docs/command-line.md, with whether it can be read and written', () => {
  const page = readFileSync(join(root, 'docs/command-line.md'), 'utf8');
  const section = /^## Protocols and formats\n(.*?)^MAIL/ms.exec(page)?.[1] ?? '';
  const rows = [...section.matchAll(/^\| `([^`]+)` +\|[^|]*\| (yes|no) +\| (yes|no) +\|/gm)];
  const toWord = (part: unknown): string => (part === undefined ? 'no' : 'yes');
  expect(Object.fromEntries(rows.map(([, name, read, write]) => [name, { read, write }]))).toEqual(
    Object.fromEntries(
      protocols.map(({ name, decoder, encoder }) => [name, { read: toWord(decoder), write: toWord(encoder) }]),
    ),
  );
});
