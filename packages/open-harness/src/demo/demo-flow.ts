import type { FlowResume } from '../source/open-harness-source.ts';
import { createFlowRuntime, type FlowRuntime, type FlowRuntimeOptions } from './flow-runtime.ts';
import type { Flow, NodeContext } from './flow.ts';

const getTopic = ({ input }: NodeContext): string => {
  const { message } = input;
  return typeof message === 'string' && message.trim() !== '' ? message.trim() : 'heat pumps';
};

/** Invented search results of the researchers. */
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

/** Drafts a column, asks before publishing, and continues with the answer. */
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

/** Demo flow without a model or a key: a plan, two parallel researchers, and an editor that asks before publishing. */
export const demoFlow: Flow = {
  name: 'newsroom',
  nodes: [
    {
      id: 'plan',
      description: 'Assigns the research.',
      async run(context) {
        await context.think('Two shelves are worth a look. They can be read at the same time.');
        await context.say(`Plan for "${getTopic(context)}": archive and press, then one column.`);
        return { shelves: Object.keys(shelves) };
      },
    },
    { id: 'archive', description: 'Searches the archive.', run: research('archive') },
    { id: 'press', description: 'Searches the press.', run: research('press') },
    { id: 'editor', description: 'Writes the column and asks before publishing.', run: edit },
  ],
  edges: [
    { from: 'plan', to: 'archive' },
    { from: 'plan', to: 'press' },
    { from: 'archive', to: 'editor' },
    { from: 'press', to: 'editor' },
  ],
};

/** Creates a runtime of the demo flow for one run: `openHarnessSource(demoRuntime)`. */
export function demoRuntime(
  turn: { resume?: FlowResume } = {},
  options: Omit<FlowRuntimeOptions, 'flow' | 'resume'> = {},
): FlowRuntime {
  return createFlowRuntime({ ...options, flow: demoFlow, ...(turn.resume && { resume: turn.resume }) });
}
