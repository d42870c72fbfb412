/** What an event is about. Filters and colours go by it, in every protocol. */
export const families = ['run', 'agent', 'text', 'reasoning', 'tool', 'people', 'data', 'notice'] as const;
export type Family = (typeof families)[number];

const words: ReadonlyArray<readonly [RegExp, Family]> = [
  [/reasoning|thinking/, 'reasoning'],
  [/approval|question|answer|interjection|interrupt|input:re|breakpoint/, 'people'],
  [/notice|error|warning/, 'notice'],
  [/tool|action/, 'tool'],
  [/text|content/, 'text'],
  [/agent|step|node|phase|edge|loop|await/, 'agent'],
  [/^(?:run|start|finish|abort|message|metadata|flow|task|workflow|new_message|stream)/, 'run'],
];

const known = new Map<string, Family>();

/** The family of an item by the name of its type, whichever protocol it is of. */
export function familyOf(type: string): Family {
  const before = known.get(type);
  if (before) return before;
  const name = type.toLowerCase();
  const family = /^(?:data|state|activity)/.test(name)
    ? 'data'
    : (words.find(([pattern]) => pattern.test(name))?.[1] ?? 'data');
  known.set(type, family);
  return family;
}

/** Whether an item only adds to what an earlier one opened. */
export const isDelta = (type: string): boolean => /delta|_CONTENT$|_ARGS$|_CHUNK$/.test(type);
