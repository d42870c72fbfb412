// @ts-check

/** What two measurements of the same thing have in common. @param {import('./measure.mjs').Row} row */
export const keyOf = ({ name, peerName }) => JSON.stringify([name, peerName]);
