const maxBytes = 20_000_000;

/** Those that may go with a message, and what to say of the others. */
export function admitFiles<F extends { name: string; size: number }>(
  files: Iterable<F>,
): { taken: F[]; problem: string | undefined } {
  const all = [...files];
  const tooLarge = all.filter(({ size }) => size > maxBytes).map(({ name }) => name);
  const verb = tooLarge.length > 1 ? 'are' : 'is';
  return {
    taken: all.filter(({ size }) => size <= maxBytes),
    problem: tooLarge.length === 0 ? undefined : `${tooLarge.join(', ')} ${verb} larger than ${maxBytes / 1e6} MB.`,
  };
}
