import type { AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';

/** Generates a regression test that checks the rules and the resulting message of the events. */
export function createTestCode(events: readonly AgentEvent[], title: string): string {
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

/** Creates a command that reads the run. */
export function createReadCommand(origin: string, path: string): string {
  return `curl -N ${quote(origin + path)}`;
}

/** Creates a command that sends the same messages in a new thread. */
export function createRerunCommand(origin: string, path: string, messages: readonly UIMessage[]): string {
  const body = JSON.stringify({ id: '@', trigger: 'submit-message', messages });
  // The shell generates the thread id, so that each call starts a new thread.
  const data = quote(body).replace('@', `again-'$(date +%s)'`);
  return [`curl -N ${quote(origin + path)}`, `  -H 'content-type: application/json'`, `  -d ${data}`].join(' \\\n');
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
