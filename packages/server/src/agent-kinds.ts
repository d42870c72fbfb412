import { a2aKind } from '@intertie/a2a';
import { agUiKind } from '@intertie/ag-ui';
import { chatRouteKind, modelKind } from '@intertie/ai-sdk';
import type { AgentKind } from '@intertie/core';
import { mailKind } from '@intertie/mail';
import { openHarnessKind } from '@intertie/open-harness';
import { openaiResponsesKind } from '@intertie/openai';
import { modelProviders } from './agents/model-providers.ts';
import { tapeKind } from './agents/tape.ts';
import { startTapeDemo } from './demo/demo-tape.ts';
import { startModelDemo } from './demo/model-demo.ts';

export { a2aAgent as a2a, type A2AAgentOptions } from '@intertie/a2a';
export { agUiAgent as agUi, type AGUIAgentOptions } from '@intertie/ag-ui';
export { chatRoute, type ChatRouteAgentOptions } from '@intertie/ai-sdk';
export { modelAgent as model, type ModelAgentOptions } from '@intertie/ai-sdk';
export { mailSwarm, type MAILAgentOptions } from '@intertie/mail';
export { openHarness, type OpenHarnessAgentOptions } from '@intertie/open-harness';
export { openaiResponses, type OpenAIResponsesOptions } from '@intertie/openai';
export { tape, type TapeAgentOptions } from './agents/tape.ts';

/** Every kind of agent that a configuration can contain. A new one is two lines here; tests can pass another list. */
export const agentKinds: readonly AgentKind[] = [
  // The provider packages are dependencies of the server only.
  { ...modelKind, environment: modelProviders, startDemo: startModelDemo },
  mailKind,
  openHarnessKind,
  agUiKind,
  chatRouteKind,
  a2aKind,
  openaiResponsesKind,
  { ...tapeKind, startDemo: startTapeDemo },
];
