import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorPage, errors, type ErrorCode } from './errors.ts';

const codes = Object.keys(errors) as ErrorCode[];
const folder = '../../../../docs/errors';

test.each(codes)('generates the page of %s from the catalogue', async (code) => {
  expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
  await expect(errorPage(code)).toMatchFileSnapshot(`${folder}/${code}.md`);
});

test('lists every code of the catalogue in docs/errors', async () => {
  const rows = [
    ['code', 'status', 'error'],
    ...codes.map((code) => [`[\`${code}\`](${code}.md)`, String(errors[code].status), errors[code].title]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`;
  const table = [rows[0]!, widths.map((width) => '-'.repeat(width)), ...rows.slice(1)].map(line).join('');
  const text = `# Errors\n\nThe server, the command line and the console use the same codes. \`GET /api/errors/<code>\` serves these pages.\n\n${table}`;
  await expect(text).toMatchFileSnapshot(`${folder}/README.md`);
  const files = readdirSync(new URL(folder, import.meta.url));
  expect(files.toSorted()).toEqual([...codes.map((code) => `${code}.md`), 'README.md'].toSorted());
});
