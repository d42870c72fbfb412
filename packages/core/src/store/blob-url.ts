const pattern = /^blob:([0-9a-f]{64})$/;

/** How a file part names its bytes where they are kept as a blob of its scope. */
export function toBlobUrl(sha256: string): string {
  return `blob:${sha256}`;
}

/** The hash in such a URL. Other URLs, those of a browser's blobs among them, are none of ours. */
export function readBlobUrl(url: string): string | undefined {
  return pattern.exec(url)?.[1];
}
