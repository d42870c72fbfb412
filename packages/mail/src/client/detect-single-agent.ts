import { asFields, parseJson } from '../shared/fields.ts';
import { singleAgentEvent, type MAILFrame } from '../shared/mail-event.ts';
import type { MAILServer } from './mail-server.ts';

/**
 * Inserts a `singleAgentEvent` after each `text_output` in a swarm of one agent. Text without a tool goes to the other
 * agents; in a swarm of one it reaches none, and the server pings forever. Reads the agents once, at the first `text_output`.
 */
export async function* detectSingleAgent(
  frames: AsyncIterable<MAILFrame>,
  server: Pick<MAILServer, 'readAgents'>,
  signal: AbortSignal,
): AsyncGenerator<MAILFrame, void> {
  let isSingle: boolean | undefined;
  for await (const frame of frames) {
    yield frame;
    if (!isTextOutput(frame)) continue;
    // If the agents cannot be read, assume several; the frame timeouts still apply.
    isSingle ??= await server.readAgents(signal).then(
      ({ agents }) => agents.length === 1,
      () => false,
    );
    if (isSingle) yield { event: singleAgentEvent, data: {} };
  }
}

function isTextOutput({ event, data }: MAILFrame): boolean {
  if (event !== 'tool_call') return false;
  const { extra_data: extra } = asFields(typeof data === 'string' ? parseJson(data) : data);
  return asFields(extra).tool_name === 'text_output';
}
