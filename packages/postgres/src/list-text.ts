/**
 * Long lists as the text that the server reads: `{"a","b"}`. Drivers make the same of an array, a piece at a time, which takes
 * longer than making the rest of a statement.
 */
export function textList(values: ReadonlyArray<string | undefined>): string {
  if (values.length === 0) return '{}';
  if (values.some(needsCare)) return `{${values.map(toItem).join(',')}}`;
  return `{"${values.join('","')}"}`;
}

export function numberList(values: readonly number[]): string {
  return `{${values.join(',')}}`;
}

function needsCare(value: string | undefined): boolean {
  return value === undefined || value.includes('"') || value.includes('\\');
}

function toItem(value: string | undefined): string {
  return value === undefined ? 'NULL' : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
