/** The format of the events that this code writes, and the newest that it reads. */
export const eventFormat = 1;
