import { asFields, parseJson } from '../shared/fields.ts';
import { aloneEvent, type MAILFrame } from '../shared/mail-event.ts';
import type { MAILServer } from './mail-server.ts';

/**
 * Words without a tool (`text_output`) go to the other agents of a swarm. In a swarm of one they go nowhere, and the server
 * pings forever: so where such words come, the server is asked who else is there.
 */
export async function* aloneFrames(
  frames: AsyncIterable<MAILFrame>,
  server: Pick<MAILServer, 'agents'>,
  signal: AbortSignal,
): AsyncGenerator<MAILFrame, void> {
  let isAlone: boolean | undefined;
  for await (const frame of frames) {
    yield frame;
    if (!isTextOutput(frame)) continue;
    // A server that does not say is one with other agents; the limits still hold.
    isAlone ??= await server.agents(signal).then(
      ({ agents }) => agents.length === 1,
      () => false,
    );
    if (isAlone) yield { event: aloneEvent, data: {} };
  }
}

function isTextOutput({ event, data }: MAILFrame): boolean {
  if (event !== 'tool_call') return false;
  const { extra_data: extra } = asFields(typeof data === 'string' ? parseJson(data) : data);
  return asFields(extra).tool_name === 'text_output';
}
