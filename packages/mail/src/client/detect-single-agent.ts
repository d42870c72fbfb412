import { fieldsOf, parseJson } from '../shared/fields.ts';
import { singleAgentEvent, type MAILFrame } from '../shared/mail-event.ts';
import type { MAILServer } from './mail-server.ts';

/**
 * Words without a tool (`text_output`) go to the other agents of a swarm. In a swarm of one they go nowhere, and the server
 * pings forever: so where such words come, the server is asked who else is there.
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
    // A server that does not say is one with other agents; the limits still hold.
    isSingle ??= await server.readAgents(signal).then(
      ({ agents }) => agents.length === 1,
      () => false,
    );
    if (isSingle) yield { event: singleAgentEvent, data: {} };
  }
}

function isTextOutput({ event, data }: MAILFrame): boolean {
  if (event !== 'tool_call') return false;
  const { extra_data: extra } = fieldsOf(typeof data === 'string' ? parseJson(data) : data);
  return fieldsOf(extra).tool_name === 'text_output';
}
