import { createInMemoryStore } from '@intertie/core';
import { tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';

import { Agent } from './agent.ts';
import type { InferIntertieUIMessage } from './infer-ui-message.ts';

const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: async () => ({ degrees: 20 }) });
const agent = new Agent({ model: new MockLanguageModelV3(), store: createInMemoryStore(), tools: { weather } });

type Message = InferIntertieUIMessage<typeof agent>;
type WeatherPart = Extract<Message['parts'][number], { type: 'tool-weather'; state: 'output-available' }>;

// Tool parts have the agent's tool names, inputs and outputs.
expectTypeOf<WeatherPart['input']>().toEqualTypeOf<{ city: string }>();
expectTypeOf<WeatherPart['output']>().toEqualTypeOf<{ degrees: number }>();

// Data parts name the agent, and metadata names the run.
type AgentPart = Extract<Message['parts'][number], { type: 'data-agent' }>;
expectTypeOf<AgentPart['data']['name']>().toEqualTypeOf<string>();
expectTypeOf<NonNullable<Message['metadata']>['intertie']>().not.toBeAny();

// A scoped agent has the same message type.
const scoped = agent.forScope('ann');
expectTypeOf<InferIntertieUIMessage<typeof scoped>>().toEqualTypeOf<Message>();

// A page that has no access to the agent names its tools.
expectTypeOf<InferIntertieUIMessage<{ tools: { weather: typeof weather } }>>().toEqualTypeOf<Message>();
