import { seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';

/** Picture of 160 by 90 pixels. */
const picture = [
  'iVBORw0KGgoAAAANSUhEUgAAAKAAAABaCAMAAAAIGK1gAAAABlBMVEU7W9r80jztT7goAAAApElEQVRo3u3ZuxWAMBTDUHv/pSmgoOLTED2ONM',
  'HtkjiJmZmZmY2peymWdg7OAxF7Ed0HIPY+um+psGULW7awL4LzBgBL930ubOFCOrCFC+nAFi6kA1u4kA7sf4EVKHCx7xuhQIECBZKFniQCBc6+',
  'Uvto8uHueDR6f8NPrG7Uw1b+l8IELoQDsyq6j/9f/IiYoIUBBOddEAMKzjuQwdLMzMzMVrUBlM8LTb1IsG0AAAAASUVORK5CYII=',
].join('');

const answer = `## A function

\`\`\`ts
// Adds two numbers.
export function add(a: number, b: number): number {
  return a + b; // "sum"
}
\`\`\`

\`\`\`unknown
plain <b>text</b>
\`\`\`

| Language | Greeting | A column that is wider than a phone | Another one |
| --- | --- | --- | --- |
| Arabic | مرحبا بالعالم | left to right | 1 |
| Hebrew | שלום עולם | right to left | 2 |

مرحبا، هذا نص طويل باللغة العربية من اليمين إلى اليسار.

- שלום עולם
- english
`;

/** Lines of the output of the tool, of which line 12,345 contains "needle". */
const output = Array.from({ length: 20_000 }, (_, n) => `line ${n + 1}${n === 12_344 ? ' with a needle' : ''}`);

/** Source whose answer has code, a table, text from right to left, an image, and a tool with a very long output. */
export const richSource: AgentSource = {
  name: 'rich',
  pauses: 'replay',
  run: (run, { signal }) => {
    async function* events(): AsyncGenerator<AgentEvent> {
      const toolCallId = `${run.runId}:read`;
      yield { type: 'tool-call', toolCallId, toolName: 'read_log', executor: 'runtime', input: { file: 'server.log' } };
      yield { type: 'tool-result', toolCallId, status: 'ok', output: output.join('\n') };
      const id = `${run.runId}:answer`;
      yield { type: 'text-start', id };
      yield { type: 'text-delta', id, delta: answer };
      yield { type: 'text-end', id };
      yield { type: 'file', id: `${run.runId}:image`, mimeType: 'image/png', filename: 'picture.png', data: picture };
      yield { type: 'run-end', outcome: 'complete', finishReason: 'stop' };
    }
    return sourceStream(
      events(),
      seal(run, () => undefined),
      { signal },
    );
  },
};
