import { asFields, asText } from '../shared/fields.ts';
import type { DemoTask } from './demo-task.ts';
import type { MAILAddress } from '../shared/mail-event.ts';

/** Agents of the demo swarm and the agents that each may message. */
export const demoAgents: ReadonlyArray<{
  name: string;
  comm_targets: string[];
  enable_entrypoint: boolean;
  can_complete_tasks: boolean;
  enable_interswarm: boolean;
}> = [
  agent('supervisor', ['researcher', 'writer'], true),
  agent('researcher', ['supervisor', 'writer'], false),
  agent('writer', ['supervisor', 'researcher'], false),
];

function agent(name: string, targets: string[], isLead: boolean): (typeof demoAgents)[number] {
  return {
    name,
    comm_targets: targets,
    enable_entrypoint: isLead,
    can_complete_tasks: isLead,
    enable_interswarm: false,
  };
}

const toAddress = (address: string): MAILAddress => ({ address_type: 'agent', address });
type Pace = () => Promise<void>;

/** Appended to every answer, because the demo uses no model. */
const disclaimer = 'I am a script and not a model: a real swarm would now say something true.';

/** Plays the swarm's reaction to a user message. It continues without any connected client. */
export async function playRequest(task: DemoTask, body: string, pace: Pace): Promise<void> {
  await pace();
  // Instructions of the client precede the message.
  const text = body.split('\n\n').at(-1) ?? '';
  if (/\b(?:fail|break|crash)\b/i.test(text)) return task.fail('supervisor', 'completion failed after 5 retries');
  if (/\b(?:plan|trip|choose|decide|ask)\b/i.test(text)) return askUser(task, text);
  if (text.length < 16 && /\b(?:hi|hello|hey|thanks)\b/i.test(text)) {
    const greeting = `Hello! I run a small office: one researcher, who trusts nothing, and one writer, who cuts. ${disclaimer}`;
    return task.complete('supervisor', greeting, 'A greeting needs no committee.');
  }
  await research(task, text, pace);
}

function askUser(task: DemoTask, text: string): void {
  const question = 'Before anybody books anything: what matters most, time, money or comfort?';
  const reasoning = `"${shorten(text)}" can go three ways, and two of them end in complaints. I ask.`;
  const call = task.call('supervisor', 'ask_user', { question }, { reasoning, preamble: 'One question first.' });
  task.pause('supervisor', [call]);
}

/** Plays the swarm's reaction to the results of breakpoint tools. */
export async function playAnswer(task: DemoTask, results: readonly unknown[], pace: Pace): Promise<void> {
  const answer = results.map((result) => asText(asFields(result).content) ?? '').join(', ');
  await pace();
  task.call('supervisor', 'send_request', { target: 'writer', subject: 'A plan', body: `They want ${answer}.` });
  task.sendMessage(toAddress('supervisor'), ['writer'], 'A plan', `They want ${answer}. Three lines, no adverbs.`);
  await pace();
  const draft = `Go by ${/money/i.test(answer) ? 'bus' : 'train'}. Leave early. Be back before anybody notices.`;
  task.call('writer', 'send_response', { target: 'supervisor', subject: 'Re: A plan', body: draft });
  task.sendMessage(toAddress('writer'), ['supervisor'], 'Re: A plan', draft, 'response');
  await pace();
  task.complete(
    'supervisor',
    `You said: ${answer}. ${draft} ${disclaimer}`,
    'The writer was asked for three lines and wrote three lines.',
  );
}

async function research(task: DemoTask, text: string, pace: Pace): Promise<void> {
  const topic = shorten(text);
  const ask = `What is known about "${topic}"? Sources, please.`;
  const fanOut = { reasoning: 'The researcher looks, the writer writes, and I take the credit.' };
  task.call('supervisor', 'send_request', { target: 'researcher', subject: 'Facts', body: ask }, fanOut);
  task.sendMessage(toAddress('supervisor'), ['researcher'], 'Facts', ask);
  await pace();
  task.call('researcher', 'search', { query: topic }, { reasoning: 'I believe nothing that I have not looked up.' });
  task.log(
    'action_call',
    `agent researcher executing action tool: search with args: ${JSON.stringify({ query: topic })}`,
  );
  await pace();
  const hits = { hits: 3, best: 'https://example.com/demo/3', note: 'Two of them contradict each other. I like that.' };
  task.log('action_complete', `action complete (caller = researcher):\n${JSON.stringify(hits)}`);
  const system: MAILAddress = { address_type: 'system', address: 'demo' };
  task.sendMessage(system, ['researcher'], '::action_complete::', 'Action completed successfully', 'broadcast');
  await pace();
  const facts = 'Three sources, two opinions, one fact. The fact is in source 3.';
  task.call('researcher', 'send_response', { target: 'supervisor', subject: 'Re: Facts', body: facts });
  task.sendMessage(toAddress('researcher'), ['supervisor'], 'Re: Facts', facts, 'response');
  await pace();
  task.call(
    'supervisor',
    'send_request',
    { target: 'writer', subject: 'Words', body: facts },
    { preamble: 'Now the draft.' },
  );
  task.sendMessage(toAddress('supervisor'), ['writer'], 'Words', `${facts} Make it readable.`);
  await pace();
  const draft = `On "${topic}": of three sources, one can be relied upon. I have cut the other two, and every adverb.`;
  task.call('writer', 'send_response', { target: 'supervisor', subject: 'Re: Words', body: draft });
  task.sendMessage(toAddress('writer'), ['supervisor'], 'Re: Words', draft, 'response');
  await pace();
  task.complete('supervisor', `${draft} ${disclaimer}`, 'It is short and it has a source. Done.');
}

function shorten(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
