/** Escapes control characters, so that received data cannot control the terminal. */
export function printable(text: string, allowed = ''): string {
  return text.replaceAll(/\p{Cc}/gu, (char) =>
    allowed.includes(char) ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
