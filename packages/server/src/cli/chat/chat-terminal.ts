import { createInterface, type Interface } from 'node:readline';

/** Line input and Ctrl-C of a user. Tests replace it. */
export interface ChatTerminal {
  /** Reads a line. Undefined at the end of the input: Ctrl-D, Ctrl-C twice, or the end of a pipe. */
  ask(prompt: string): Promise<string | undefined>;
  /** Listens for Ctrl-C while no line is read. Returns a function that removes the listener. */
  onInterrupt(listener: () => void): () => void;
  close(): void;
}

const hint = '(Ctrl-C again to quit)\n';

/** Terminal of this process. It is in raw mode only while a line is read, so that Ctrl-C is a signal otherwise. */
export function nodeTerminal(): ChatTerminal {
  return process.stdin.isTTY ? interactiveTerminal() : pipedTerminal();
}

function interactiveTerminal(): ChatTerminal {
  let history: string[] = [];
  return {
    ask: (prompt) =>
      new Promise((resolve) => {
        const { stdin: input, stdout: output } = process;
        const reader = createInterface({ input, output, terminal: true, history: [...history], historySize: 200 });
        let isWarned = false;
        let answer: string | undefined;
        reader.on('history', (lines: string[]) => void (history = lines));
        reader.on('close', () => {
          // Ctrl-D leaves the cursor after the prompt.
          if (answer === undefined && !isWarned) output.write('\n');
          resolve(answer);
        });
        reader.on('SIGINT', () => {
          if (isWarned && reader.line === '') {
            output.write('\n');
            return reader.close();
          }
          isWarned = true;
          clearLine(reader);
          output.write(`\n${hint}`);
          reader.prompt();
        });
        reader.setPrompt(prompt);
        reader.prompt();
        reader.once('line', (line) => {
          answer = line;
          reader.close();
        });
      }),
    onInterrupt: listenForSignal,
    close: () => process.stdin.pause(),
  };
}

function clearLine(reader: Interface): void {
  reader.write(null, { ctrl: true, name: 'e' });
  reader.write(null, { ctrl: true, name: 'u' });
}

function pipedTerminal(): ChatTerminal {
  let reader: Interface | undefined;
  let lines: AsyncIterator<string> | undefined;
  return {
    async ask() {
      reader ??= createInterface({ input: process.stdin, terminal: false });
      lines ??= reader[Symbol.asyncIterator]();
      const { done, value } = await lines.next();
      return done ? undefined : value;
    },
    onInterrupt: listenForSignal,
    close: () => reader?.close(),
  };
}

function listenForSignal(listener: () => void): () => void {
  process.on('SIGINT', listener);
  return () => void process.off('SIGINT', listener);
}
