import { toSearchTerms, type MessageMatch } from '@intertie/core/store';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { readQuery } from '../http/read-json.ts';
import { getStore, type App } from './context.ts';
import { createExcerpt } from './excerpt.ts';

const searchQuery = z.object({
  q: z.string().min(1).max(500),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

/** Adds the route that searches the text of messages. */
export function addSearchRoutes(app: App, host: Host): void {
  app.get('/api/search', async (c) => {
    const { q: search, limit } = readQuery(c.req.raw, searchQuery);
    const terms = toSearchTerms(search);
    const matches = await getStore(host, c).searchMessages({ search, limit });
    return c.json({ matches: matches.map((match) => toMatchInfo(match, terms)) });
  });
}

function toMatchInfo({ text, createdAt, ...match }: MessageMatch, terms: readonly string[]): object {
  return { ...match, createdAt: createdAt.toISOString(), excerpt: createExcerpt(text, terms) };
}
