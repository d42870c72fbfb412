import type { BaseEvent } from '@ag-ui/core';
import { expectTypeOf, test } from 'vitest';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { AgentsToAGUIAdapter } from './agents-to-ag-ui-adapter.ts';
import { toAGUI, type StreamTextLike } from './to-ag-ui.ts';

declare const result: StreamTextLike;

test('returns an AsyncGenerator<BaseEvent> from adaptStreamToAGUI', () => {
  expectTypeOf(new AgentsToAGUIAdapter().adaptStreamToAGUI(result)).toExtend<AsyncGenerator<BaseEvent>>();
  expectTypeOf(toAGUI(result)).toExtend<ReadableStream<BaseEvent>>();
});

test('narrows emitted events by a plain string and assigns them to AGUIEvent', async () => {
  for await (const event of new AgentsToAGUIAdapter().adaptStreamToAGUI(result)) {
    expectTypeOf(event).toExtend<AGUIEvent>();
    if (event.type === 'STEP_STARTED') expectTypeOf(event.stepName).toEqualTypeOf<string>();
  }
});
