import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, Role, TaskState, type Message, type Part } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

/** Executor like that of the SDK's samples. The text of the message selects what it does. */
class SampleExecutor implements AgentExecutor {
  readonly canceled = new Set<string>();

  async execute({ taskId, contextId, task, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const [part] = userMessage.parts;
    const text = part?.content?.$case === 'text' ? part.content.value : '';
    const message = (value: string): Message => ({
      messageId: `${taskId}-${value.length}`,
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [textPart(value)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    });
    const status = (state: TaskState, value?: string): void =>
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: {
            state,
            message: value === undefined ? undefined : message(value),
            timestamp: new Date().toISOString(),
          },
          metadata: undefined,
        }),
      );
    const chunk = (value: string, append: boolean, lastChunk: boolean): void =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId: 'result',
            name: 'result',
            description: '',
            parts: [textPart(value)],
            metadata: undefined,
            extensions: [],
          },
          append,
          lastChunk,
          metadata: undefined,
        }),
      );
    if (text === 'message') {
      bus.publish(AgentEvent.message({ ...message('A direct answer'), taskId: '' }));
      return bus.finished();
    }
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
        artifacts: task?.artifacts ?? [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    if (text === 'ask') return status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which city?');
    if (text === 'ask again') return status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which country?');
    if (text === 'reject') return status(TaskState.TASK_STATE_REJECTED, 'Not my job');
    status(TaskState.TASK_STATE_WORKING, 'Working on it');
    if (text === 'wait') {
      while (!this.canceled.has(taskId)) await new Promise((resolve) => setTimeout(resolve, 10));
      return status(TaskState.TASK_STATE_CANCELED);
    }
    if (text === 'status') return status(TaskState.TASK_STATE_COMPLETED, 'An answer in the status');
    chunk('You said: ', false, false);
    chunk(text, true, true);
    status(TaskState.TASK_STATE_COMPLETED);
  }

  async cancelTask(taskId: string): Promise<void> {
    this.canceled.add(taskId);
  }
}

export type SampleServer = { url: string; canceled: ReadonlySet<string>; close(): void };

/** Starts the SDK's own server, on Express, with both bindings. */
export async function startSampleServer(): Promise<SampleServer> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const card = AgentCard.fromJSON({
    name: 'sample',
    description: 'A sample agent.',
    version: '1',
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  });
  const executor = new SampleExecutor();
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, canceled: executor.canceled, close };
}
