import { createChatHandler } from '@intertie/ai-sdk';
import { mailSource } from '@intertie/mail';
import { startMAILDemo } from '@intertie/mail/demo';

/** The complete route: `export const POST = await createRoute()` in a framework. Without MAIL_BASE_URL a scripted swarm answers. */
export async function createRoute(): Promise<(request: Request) => Promise<Response>> {
  const { MAIL_BASE_URL, MAIL_API_KEY = 'demo' } = process.env;
  const baseUrl = MAIL_BASE_URL ?? (await startMAILDemo()).url;
  return createChatHandler(mailSource({ baseUrl, authToken: MAIL_API_KEY }));
}
