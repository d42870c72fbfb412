/** Encodes an array literal: `{"a",null}`. Faster than the drivers, which do the same element by element. */
export function toTextArray(values: ReadonlyArray<string | undefined>): string {
  const json = JSON.stringify(values);
  // JSON without escapes is a valid array literal, except for the brackets.
  return `{${json.includes('\\') ? values.map(toItem).join(',') : json.slice(1, -1)}}`;
}

export function toNumberArray(values: readonly number[]): string {
  return `{${values.join(',')}}`;
}

function toItem(value: string | undefined): string {
  return value === undefined ? 'NULL' : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
