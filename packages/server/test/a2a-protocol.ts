import { a2aProtocol as a2a, type A2AMessage, type A2AStreamItem, type A2ATask } from '@intertie/a2a';
import { connectA2A, foldItems, getInputs, text, type Binding } from './a2a-client.ts';
import { collect } from './client.ts';
import { listViolations, readDisturbed, storedMessages, type Protocol, type Reply } from './protocol.ts';

/** Unmodified client of `@a2a-js/sdk`. */
export function a2aProtocol(binding: Binding): Protocol {
  return {
    name: `A2A 1.0, ${binding}`,
    async run(test) {
      const client = await connectA2A(`${test.base}/api/agents/${test.agent}/a2a`, binding);
      const sent = client.stream({ contextId: test.thread, ...text(test.text) });
      let items: A2AStreamItem[] = await readDisturbed(test, sent, {
        // The only public text of a swarm is its last output. Before that, its client has just the task.
        count: test.agent === 'swarm' ? 1 : 4,
        abort: (begun) => client.cancel(foldItems(begun).id),
      });
      if (test.scenario === 'resume') items = await collect(client.subscribe(foldItems(items).id));
      const streams = [items];
      if (test.reply) streams.push(await collect(client.stream(toReply(foldItems(items), test.reply))));
      const task = foldItems(streams.at(-1)!);
      await storedMessages(test, 'canonical');
      return {
        client: toVisible(task),
        stored: toVisible(await client.get(task.id)),
        violations: listViolations(a2a, streams),
      };
    },
  };
}

function toReply(task: A2ATask, reply: Reply): Partial<A2AMessage> {
  const { id: taskId, contextId } = task;
  // A task that waits for the next message is complete: the message starts another one.
  if ('text' in reply) return { contextId, ...text(reply.text) };
  const answer = 'approve' in reply ? { approved: true } : reply;
  return { taskId, contextId, parts: getInputs(task).map(({ questionId }) => ({ data: { questionId, ...answer } })) };
}

/** Status and artifacts of a task. A stream has the text of an artifact in several parts. */
function toVisible({ status, artifacts = [] }: A2ATask): unknown[] {
  const { state, message } = status;
  const visible = artifacts.map(({ artifactId, parts }) => {
    const texts = parts.map((part) => part.text);
    return { artifactId, parts: texts.includes(undefined) ? parts : texts.join('') };
  });
  return [{ state, parts: message?.parts }, ...visible];
}
