const MAX_LENGTH = 200;

/** A place for an error to name. Keys come from strangers, and an error is shown, logged and sent. */
export function capPath(path: string): string {
  return path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH - 1)}…` : path;
}
