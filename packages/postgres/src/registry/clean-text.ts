/** Replaces NUL, which a `text` column cannot store, in text written by people or models. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
