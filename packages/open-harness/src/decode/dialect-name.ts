/** The name under which we keep what only this runtime says. */
export const dialect = 'open-harness';
