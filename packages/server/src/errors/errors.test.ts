import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorPage, errors, type ErrorCode } from './errors.ts';

const codes = Object.keys(errors) as ErrorCode[];
const folder = '../../../../docs/errors';

test.each(codes)('%s has a page that says what the catalogue says', async (code) => {
  expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
  await expect(errorPage(code)).toMatchFileSnapshot(`${folder}/${code}.md`);
});

test('the list of pages is the catalogue', async () => {
  const rows = [
    ['code', 'status', 'what'],
    ...codes.map((code) => [`[\`${code}\`](${code}.md)`, String(errors[code].status), errors[code].title]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`;
  const table = [rows[0]!, widths.map((width) => '-'.repeat(width)), ...rows.slice(1)].map(line).join('');
  const text = `# Errors\n\nThe same codes in the server, the command line and the console. \`GET /api/errors/<code>\` serves these pages too.\n\n${table}`;
  await expect(text).toMatchFileSnapshot(`${folder}/README.md`);
  const files = readdirSync(new URL(folder, import.meta.url));
  expect(files.toSorted()).toEqual([...codes.map((code) => `${code}.md`), 'README.md'].toSorted());
});
