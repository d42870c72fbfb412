const maxBytes = 20_000_000;

/** Selects the files that can be attached to a message, and names the files that are too large. */
export function checkFileSizes<F extends { name: string; size: number }>(
  files: Iterable<F>,
): { accepted: F[]; problem: string | undefined } {
  const all = [...files];
  const tooLarge = all.filter(({ size }) => size > maxBytes).map(({ name }) => name);
  const verb = tooLarge.length > 1 ? 'are' : 'is';
  return {
    accepted: all.filter(({ size }) => size <= maxBytes),
    problem: tooLarge.length === 0 ? undefined : `${tooLarge.join(', ')} ${verb} larger than ${maxBytes / 1e6} MB.`,
  };
}
