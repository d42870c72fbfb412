import { createChatHandler } from '@intertie/ai-sdk';
import { mailSource } from '@intertie/mail';
import { startMAILDemo } from '@intertie/mail/demo';

/** The whole route: `export const POST = await createRoute()` in a framework. Without a server of yours, a scripted swarm answers. */
export async function createRoute(): Promise<(request: Request) => Promise<Response>> {
  const { MAIL_BASE_URL, MAIL_API_KEY = 'demo' } = process.env;
  const baseUrl = MAIL_BASE_URL ?? (await startMAILDemo()).url;
  return createChatHandler(mailSource({ baseUrl, authToken: MAIL_API_KEY }));
}
