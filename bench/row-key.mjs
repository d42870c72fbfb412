// @ts-check

/** Identifies a row across measurements. @param {import('./measure.mjs').Row} row */
export const toRowKey = ({ name, peerName }) => JSON.stringify([name, peerName]);
