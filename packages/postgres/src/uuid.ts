const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Run keys are uuids. Postgres rejects a comparison with any other text, so callers treat it as an unknown key. */
export function isUuid(key: string): boolean {
  return uuid.test(key);
}
