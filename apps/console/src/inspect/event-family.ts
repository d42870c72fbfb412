/** Categories of events in all protocols, for filters and colors. */
export const families = ['run', 'agent', 'text', 'reasoning', 'tool', 'people', 'data', 'notice'] as const;
export type Family = (typeof families)[number];

const patterns: ReadonlyArray<readonly [RegExp, Family]> = [
  [/reasoning|thinking/, 'reasoning'],
  [/approval|question|answer|interjection|interrupt|input:re|breakpoint/, 'people'],
  [/notice|error|warning/, 'notice'],
  [/tool|action/, 'tool'],
  [/text|content/, 'text'],
  [/agent|step|node|phase|edge|loop|await/, 'agent'],
  [/^(?:run|start|finish|abort|message|metadata|flow|task|workflow|new_message|stream)/, 'run'],
];

const cache = new Map<string, Family>();

/** Classifies an item of any protocol by the name of its type. */
export function getFamily(type: string): Family {
  const cached = cache.get(type);
  if (cached) return cached;
  const name = type.toLowerCase();
  const family = /^(?:data|state|activity)/.test(name)
    ? 'data'
    : (patterns.find(([pattern]) => pattern.test(name))?.[1] ?? 'data');
  cache.set(type, family);
  return family;
}

/** Whether an item only extends what an earlier one opened. */
export const isDelta = (type: string): boolean => /delta|_CONTENT$|_ARGS$|_CHUNK$/.test(type);
