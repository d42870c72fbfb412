const pattern = /^blob:([0-9a-f]{64})$/;

/** Formats the URL by which a file part refers to a blob of its scope. */
export function toBlobUrl(sha256: string): string {
  return `blob:${sha256}`;
}

/** Parses the hash of a blob URL. Undefined for other URLs, including the `blob:` URLs of browsers. */
export function readBlobUrl(url: string): string | undefined {
  return pattern.exec(url)?.[1];
}
