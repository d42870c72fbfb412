/**
 * Long lists as the text that the server reads: `{"a",null}`. Drivers make the same of an array, a piece at a time, which takes
 * longer than making the rest of a statement.
 */
export function textList(values: ReadonlyArray<string | undefined>): string {
  const json = JSON.stringify(values);
  // Without anything escaped it is what the server reads, but for the brackets.
  return `{${json.includes('\\') ? values.map(toItem).join(',') : json.slice(1, -1)}}`;
}

export function numberList(values: readonly number[]): string {
  return `{${values.join(',')}}`;
}

function toItem(value: string | undefined): string {
  return value === undefined ? 'NULL' : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
