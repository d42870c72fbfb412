import { jsonSchema, tool, type ToolSet } from 'ai';

const skies = ['clear', 'cloudy', 'windy', 'misty'];

/** Tools of the demo: one runs, one needs approval. Neither sends anything to other machines. */
export function demoTools(): ToolSet {
  return {
    weather: tool({
      description: 'The weather in a city. The demo makes it up.',
      inputSchema: jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      }),
      metadata: { idempotent: true },
      execute: async ({ city }) => {
        const sum = Array.from(city).reduce((all, character) => all + (character.codePointAt(0) ?? 0), 0);
        return { city, celsius: 5 + (sum % 25), sky: skies[sum % skies.length]! };
      },
    }),
    sendEmail: tool({
      description: 'Sends an email, after a person has agreed. The demo sends nothing.',
      inputSchema: jsonSchema<{ to: string; subject: string; body: string }>({
        type: 'object',
        properties: { to: { type: 'string' }, subject: { type: 'string' }, body: { type: 'string' } },
        required: ['to', 'subject', 'body'],
        additionalProperties: false,
      }),
      needsApproval: true,
      execute: async ({ to }) => ({ sent: true, to }),
    }),
  };
}
