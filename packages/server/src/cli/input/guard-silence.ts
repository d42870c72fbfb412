/** The bytes of a body, read on demand. Fails where nothing at all has come for too long; leaving closes the connection. */
export async function* guardSilence(
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
    // The server may not answer a cancellation either.
    reader.cancel().catch(() => undefined);
  }
}
