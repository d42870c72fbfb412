/** What JSON can say. Every value that crosses a boundary of Intertie is one of these. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/**
 * Metadata by the name of the provider or dialect that said it, for example `{ openai: { itemId: '…' } }`.
 * Two of them merge per top key, the later wins: see `mergeMeta`.
 */
export type Meta = { [providerOrDialect: string]: JsonObject };
