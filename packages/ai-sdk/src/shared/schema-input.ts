import { isFields } from './read-fields.ts';

const description = 'ai-sdk-tool-call-input-schema-input';

/**
 * What the model wrote, before the tool's schema transformed it. `streamText` hides it behind a private symbol, and demands
 * it back with the approval: the input is validated again then, and a transformed one fails. Undefined: there is none.
 */
export function inputBeforeSchema(toolCall: unknown): { value: unknown } | undefined {
  if (!isFields(toolCall)) return undefined;
  const key = Object.getOwnPropertySymbols(toolCall).find((symbol) => symbol.description === description);
  return key === undefined ? undefined : { value: Reflect.get(toolCall, key) as unknown };
}
