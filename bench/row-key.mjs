// @ts-check

/** What two measurements of the same thing have in common. @param {import('./measure.mjs').Row} row */
export const toRowKey = ({ name, peerName }) => JSON.stringify([name, peerName]);
