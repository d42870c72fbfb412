import { z } from 'zod';
import { version } from '../config/version.ts';
import type { App } from './context.ts';
import type { Route } from './route-table.ts';

type Fields = { [name: string]: unknown };

const mediaTypes: { readonly [kind: string]: string } = {
  json: 'application/json',
  sse: 'text/event-stream',
  text: 'text/plain',
  bytes: 'application/octet-stream',
  ndjson: 'application/x-ndjson',
};

export function addOpenAPI(app: App, routes: readonly Route[]): void {
  app.get('/api/openapi.json', (c) => c.json(openAPI(routes)));
}

/** Generates the OpenAPI 3.1 document of the routes. */
export function openAPI(routes: readonly Route[]): Fields {
  const paths: { [path: string]: Fields } = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  return {
    openapi: '3.1.0',
    info: { title: 'Intertie', version, description: 'Connects agent runtimes to chat clients.' },
    paths,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{}, { token: [] }],
  };
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        fix: { type: 'string' },
        docs: { type: 'string' },
      },
    },
  },
};

function operation({ path, summary, tag, query = {}, body, answers }: Route): Fields {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }));
  const responses = Object.entries(answers).map(([status, kind]) => {
    const type = mediaTypes[kind];
    return [status, { description: summary, ...(type !== undefined && { content: { [type]: {} } }) }] as const;
  });
  const refused = {
    description: 'Error.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  return {
    summary,
    tags: [tag],
    parameters: [...inPath, ...inQuery],
    ...(body && { requestBody: { required: true, content: toRequestContent(body) } }),
    responses: { ...Object.fromEntries(responses), default: refused },
  };
}

function toRequestContent(body: NonNullable<Route['body']>): Fields {
  if (body === 'bytes') return { 'application/octet-stream': {} };
  const schema = body instanceof z.ZodType ? z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' }) : body;
  return { 'application/json': { schema } };
}
