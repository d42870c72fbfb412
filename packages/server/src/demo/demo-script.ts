/** Response of the demo model, as a list of parts. The texts say that they are scripted. */
export type DemoScript = Array<
  | { kind: 'reasoning' | 'text'; text: string }
  | { call: string; input: { [name: string]: unknown } }
  | { file: string; mediaType: string }
  | { fail: string }
>;

/** The part of the prompt that the script depends on. */
export type DemoPrompt = {
  /** Last message of the user. */
  text: string;
  /** Results of tools that were called after it. */
  results: ReadonlyArray<{ toolName: string; output: unknown; isDenied: boolean }>;
  /** Names of the tools that the model may call. */
  tools: readonly string[];
};

const hints = `Try one of these:

| say | and see |
| --- | --- |
| *What is the weather in Lisbon?* | a tool that runs |
| *Send an email to Ada* | a tool that asks you first |
| *Draw a chart* | a file |
| *Write a long answer* | something to stop, cut off and resume |
| *Fail* | an error, and how it is shown |`;

/** Selects a response by keywords of the last message, or by the last tool result. */
export function selectScript({ text, results, tools }: DemoPrompt): DemoScript {
  const last = results.at(-1);
  if (last) return afterTool(last);
  const topic = text.toLowerCase();
  if (/weather|rain|sun|temperature|wetter/.test(topic)) {
    if (!tools.includes('weather')) return explainMissingTool('weather');
    const city = findCity(text);
    return [
      { kind: 'reasoning', text: `The question is about the weather in ${city}. There is a tool for that.` },
      { call: 'weather', input: { city } },
    ];
  }
  if (/mail|send|approv|delete|invite/.test(topic)) {
    if (!tools.includes('sendEmail')) return explainMissingTool('sendEmail');
    const to = /\bto ([A-Z][\w-]+)/.exec(text)?.[1] ?? 'Ada';
    return [
      { kind: 'reasoning', text: 'An email cannot be taken back, so the tool will ask before it is sent.' },
      { kind: 'text', text: `I have a draft for **${to}**. May I send it?` },
      {
        call: 'sendEmail',
        input: { to, subject: 'Hello from the demo', body: `Dear ${to}, this email is never really sent.` },
      },
    ];
  }
  if (/chart|draw|picture|image|file/.test(topic)) {
    return [
      { kind: 'reasoning', text: 'A picture says it best. I will draw three bars.' },
      { kind: 'text', text: 'Here is a chart of nothing in particular:' },
      { file: chart([40, 90, 65]), mediaType: 'image/svg+xml' },
      { kind: 'text', text: 'The middle one is the tallest.' },
    ];
  }
  if (/where am i|location/.test(topic) && tools.includes('getLocation')) return [{ call: 'getLocation', input: {} }];
  if (/\b(fail|error|crash)\b/.test(topic)) {
    return [
      { kind: 'text', text: 'I will now fail, because you asked me to' },
      { fail: 'The demo failed on purpose. Nothing is broken.' },
    ];
  }
  if (/long|essay|story|slow/.test(topic))
    return [{ kind: 'reasoning', text: 'Something long, in parts.' }, ...longAnswer()];
  return [
    {
      kind: 'reasoning',
      text: `The message is “${shorten(text)}”. This is a script without a model, so it lists what it can do.`,
    },
    {
      kind: 'text',
      text: `You said: *${shorten(text)}*\n\nI am a **scripted demo**: no key, no model, no network. What you see is real, though: this answer is logged before it is shown, survives a reload, and can be read by any client.\n\n${hints}\n\n\`\`\`ts\nuseChat({ transport: new DefaultChatTransport({ api: '/api/agents/helper/chat' }) });\n\`\`\`\n`,
    },
  ];
}

function explainMissingTool(name: string): DemoScript {
  const text = `I would call the tool \`${name}\` now, but this agent has none of that name. Pass it in the option \`tools\`.`;
  return [{ kind: 'text', text }];
}

function afterTool({ toolName, output, isDenied }: DemoPrompt['results'][number]): DemoScript {
  if (toolName === 'weather') {
    const { city, celsius, sky } = output as { city: string; celsius: number; sky: string };
    return [
      { kind: 'reasoning', text: 'The tool has answered. One sentence is enough.' },
      {
        kind: 'text',
        text: `In **${city}** it is **${celsius} °C** and ${sky}. (The demo makes that up from the name.)`,
      },
    ];
  }
  if (toolName === 'getLocation') {
    const { city = 'a place without a name' } = (output ?? {}) as { city?: string };
    return [{ kind: 'text', text: `You are in **${city}**, as your page says.` }];
  }
  if (isDenied) return [{ kind: 'text', text: 'All right, I have **not** sent it. The draft is gone.' }];
  return [{ kind: 'text', text: 'Done: the email is **sent** (well, in this demo it is not).' }];
}

function findCity(text: string): string {
  return /\bin ([A-Z][\p{L}-]+(?: [A-Z][\p{L}-]+)*)/u.exec(text)?.[1] ?? 'Lisbon';
}

function shorten(text: string): string {
  const clean = text.replace(/\s+/g, ' ').trim();
  return clean.length > 80 ? `${clean.slice(0, 79)}…` : clean || 'nothing';
}

function longAnswer(): DemoScript {
  const chapters = ['Events', 'Runs', 'Threads', 'Questions', 'Readers', 'Writers', 'Stores', 'Ends'];
  return chapters.map((chapter, index) => ({
    kind: 'text' as const,
    text: `## ${index + 1}. ${chapter}\n\nThis paragraph is here to take its time. While it is being written you may reload the page, open a second tab, cut the wire or stop it: nothing is lost and nothing arrives twice. A demo has no more to explain about ${chapter.toLowerCase()}, but a long answer needs some words, and so here are a few more of them.\n\n`,
  }));
}

function chart(values: readonly number[]): string {
  const bars = values.map(
    (value, index) =>
      `<rect x="${20 + index * 60}" y="${110 - value}" width="40" height="${value}" rx="4" fill="#3b82f6"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="120" viewBox="0 0 200 120"><rect width="200" height="120" fill="#f8fafc"/>${bars.join('')}</svg>`;
}
