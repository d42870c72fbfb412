import { createChatHandler } from '@intertie/ai-sdk';
import { agent } from '../../../../agent.ts';

type Route = (request: Request) => Promise<Response>;

/** `/api/chat`, `/api/chat/:thread/stream` and `/api/chat/:thread/stop`. */
const handler: Route = createChatHandler(agent);
export const GET: Route = handler;
export const POST: Route = handler;
