import { a2aProtocol } from '@intertie/a2a';
import { agUi } from '@intertie/ag-ui';
import { fromUIMessages, fullStream, modelMessages, uiMessageStream } from '@intertie/ai-sdk';
import { canonical } from '@intertie/conformance';
import type { Protocol } from '@intertie/core';
import { mailProtocol } from '@intertie/mail';
import { openHarnessProtocol } from '@intertie/open-harness';
import { openai } from '@intertie/openai';

/** Every protocol that the tools and the server know. A new one is one line here; tests can pass another list. */
export const protocols: readonly Protocol[] = [
  canonical,
  agUi,
  uiMessageStream,
  mailProtocol,
  openHarnessProtocol,
  a2aProtocol,
  openai,
  fullStream,
  modelMessages,
];

/** Protocol between the command line and an Intertie server. */
export const serverProtocol: Protocol = uiMessageStream;

/** Decodes messages of a server in the format of `serverProtocol`. */
export const decodeServerMessages: typeof fromUIMessages = fromUIMessages;
