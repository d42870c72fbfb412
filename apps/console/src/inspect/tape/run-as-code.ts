import type { AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';

/** A test that holds the run still: its events keep the rules and make the message that they made. */
export function fixtureOf(events: readonly AgentEvent[], title: string): string {
  const end = events.findLast((event) => event.type === 'run-end');
  const lines = events.map((event) => `  ${JSON.stringify(event)},`);
  return `import { canonical, check } from '@intertie/conformance';
import { foldEvents, type AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';

const events: AgentEvent[] = [
${lines.join('\n')}
];

it(${JSON.stringify(title)}, () => {
  expect(check(canonical, events).violations).toEqual([]);
  expect(foldEvents(events)).toMatchObject({ status: ${JSON.stringify(end?.outcome ?? 'streaming')} });
});
`;
}

/** Reads the run from the server again. */
export function readingCurl(origin: string, path: string): string {
  return `curl -N ${quoted(origin + path)}`;
}

/** Asks for it once more, in a thread of its own, with what was said before it. */
export function asksAgainCurl(origin: string, path: string, messages: readonly UIMessage[]): string {
  const body = JSON.stringify({ id: '@', trigger: 'submit-message', messages });
  // The shell makes the thread's name, so that a second time is not a second turn.
  const data = quoted(body).replace('@', `again-'$(date +%s)'`);
  return [`curl -N ${quoted(origin + path)}`, `  -H 'content-type: application/json'`, `  -d ${data}`].join(' \\\n');
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
