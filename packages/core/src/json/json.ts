/** JSON value. All values that cross a boundary of Intertie have this type. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Metadata by provider or protocol, for example `{ openai: { itemId: '…' } }`. `mergeMeta` merges two of them. */
export type Meta = { [providerOrProtocol: string]: JsonObject };
