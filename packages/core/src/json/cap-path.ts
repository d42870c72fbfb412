const MAX_LENGTH = 200;

/** Limits a path in an error message, because its keys come from untrusted input. */
export function capPath(path: string): string {
  return path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH - 1)}…` : path;
}
