/** Name of the protocol, and key of its provider metadata. */
export const protocolName = 'open-harness';
