/** Name of the dialect, and key of its provider metadata. */
export const dialect = 'open-harness';
