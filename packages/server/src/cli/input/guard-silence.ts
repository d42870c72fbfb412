/** Reads a body on demand. Throws `failure()` if nothing arrives within the limit. Returning early closes the connection. */
export async function* readWithTimeout(
  body: ReadableStream<Uint8Array>,
  limitMs: number,
  failure: () => Error,
): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(failure()), limitMs);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(timer);
    // Not awaited: a stalled server may not react to the cancellation.
    reader.cancel().catch(() => undefined);
  }
}
