const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A key that is none of ours is the key of nothing; the database would not even compare it. */
export function isUuid(key: string): boolean {
  return uuid.test(key);
}
