/**
 * How deep a value may nest: a tool's output, a state, metadata. Deeper than any real one, and shallow enough for every
 * recursive reader behind us. One number for all of core, so that what one door lets in no later one refuses.
 */
export const MAX_DEPTH = 256;

/** Of what holds such values, an event or a message: a value that is right stays right inside of it. */
export const MAX_OUTER_DEPTH: number = MAX_DEPTH + 16;
