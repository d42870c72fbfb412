/** A text that people or models wrote and a `text` column keeps: Postgres cannot hold a NUL. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
