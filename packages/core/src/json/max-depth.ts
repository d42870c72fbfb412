/**
 * Maximum nesting of a value: a tool's output, a state, metadata. Deeper than real values, and shallow enough for recursive
 * readers. All of core uses this number, so that a value that was accepted once is never rejected later.
 */
export const MAX_DEPTH = 256;

/** Maximum nesting of an event or message, which holds values of up to `MAX_DEPTH`. */
export const MAX_OUTER_DEPTH: number = MAX_DEPTH + 16;
