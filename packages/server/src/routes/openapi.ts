import { z } from 'zod';
import { version } from '../config/version.ts';
import type { App } from './context.ts';
import { routeTable, type Route } from './route-table.ts';

type Fields = { [name: string]: unknown };

const mediaTypes: { readonly [kind: string]: string } = {
  json: 'application/json',
  sse: 'text/event-stream',
  text: 'text/plain',
  bytes: 'application/octet-stream',
  ndjson: 'application/x-ndjson',
};

export function addOpenAPI(app: App): void {
  app.get('/api/openapi.json', (c) => c.json(openAPI()));
}

/** Finds the methods of a path. Empty if the path does not exist. */
export function findMethods(path: string): string[] {
  const methods = routeTable.filter((route) => pattern(route).test(path)).map(({ method }) => method as string);
  return [...new Set(methods)];
}

function pattern({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll('.', String.raw`\.`).replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Generates the OpenAPI 3.1 document from the route table. */
export function openAPI(): Fields {
  const paths: { [path: string]: Fields } = {};
  for (const route of routeTable) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
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
  return { 'application/json': { schema: z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' }) } };
}
