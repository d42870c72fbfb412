import type { FlowResume } from '../source/open-harness-source.ts';
import { createFlowRuntime, type FlowRuntime, type FlowRuntimeOptions } from './flow-runtime.ts';
import type { Flow, NodeContext } from './flow.ts';

const getTopic = ({ input }: NodeContext): string => {
  const { message } = input;
  return typeof message === 'string' && message.trim() !== '' ? message.trim() : 'heat pumps';
};

/** What the researchers find. Nothing here is true of any topic in particular. */
const shelves: Readonly<Record<string, readonly string[]>> = {
  archive: ['a survey of forty households', 'a field test over two winters'],
  press: ['an interview with a skeptic', 'a comparison of running costs'],
};

const research =
  (shelf: 'archive' | 'press') =>
  async (context: NodeContext): Promise<{ findings: readonly string[] }> => {
    const topic = getTopic(context);
    await context.think(`The ${shelf} first: what has been measured, and by whom?`);
    const found = await context.tool('search', { shelf, query: topic }, () => ({ hits: shelves[shelf] ?? [] }));
    await context.say(`In the ${shelf} I found ${found.hits.join(' and ')}.`);
    return { findings: found.hits };
  };

/** An editor drafts, asks before it publishes, and goes on with the answer. */
async function edit(context: NodeContext): Promise<{ text: string; published: boolean }> {
  const topic = getTopic(context);
  const { answer } = context;
  if (answer === undefined) {
    const findings = ['archive', 'press'].flatMap((id) => {
      const output = context.outputs[id] as { findings: readonly string[] } | undefined;
      return output?.findings ?? [];
    });
    await context.think(`${findings.length} findings. One column, and the doubts belong in it.`);
    await context.say(`${topic}: what we know\n\nOur column rests on ${findings.join(', ')}. The doubts stay in.`);
    context.set('column.status', 'draft');
    await context.say('Shall I publish it? Say yes, or say what to change.');
    return context.pause();
  }
  if (!/^\s*(yes|ok|publish|go)\b/i.test(answer)) {
    await context.say(`I have changed the column: ${answer}. It stays a draft.`);
    return { text: answer, published: false };
  }
  const { url } = await context.tool('publish', { title: topic }, () => ({ url: 'https://example.com/column' }));
  context.set('column.status', 'published');
  const text = `Published: ${url}`;
  await context.say(text);
  return { text, published: true };
}

/** A plan, two researchers side by side, an editor who asks before publishing. No model, no key. */
export const demoFlow: Flow = {
  name: 'newsroom',
  nodes: [
    {
      id: 'plan',
      description: 'Decides who looks where.',
      async run(context) {
        await context.think('Two shelves are worth a look. They can be read at the same time.');
        await context.say(`Plan for "${getTopic(context)}": archive and press, then one column.`);
        return { shelves: Object.keys(shelves) };
      },
    },
    { id: 'archive', description: 'Looks for what was measured.', run: research('archive') },
    { id: 'press', description: 'Looks for what was said.', run: research('press') },
    { id: 'editor', description: 'Writes the column, and asks before it publishes.', run: edit },
  ],
  edges: [
    { from: 'plan', to: 'archive' },
    { from: 'plan', to: 'press' },
    { from: 'archive', to: 'editor' },
    { from: 'press', to: 'editor' },
  ],
};

/** A runtime of the demo flow for every turn: `openHarnessSource(demoRuntime)`. */
export function demoRuntime(
  turn: { resume?: FlowResume } = {},
  options: Omit<FlowRuntimeOptions, 'flow' | 'resume'> = {},
): FlowRuntime {
  return createFlowRuntime({ ...options, flow: demoFlow, ...(turn.resume && { resume: turn.resume }) });
}
