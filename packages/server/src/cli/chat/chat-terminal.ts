import { createInterface, type Interface } from 'node:readline';

/** A person at a keyboard, or a script that stands in for one. */
export interface ChatTerminal {
  /** A line, or undefined where there are no more: Ctrl-D, Ctrl-C twice, the end of a pipe. */
  ask(prompt: string): Promise<string | undefined>;
  /** Ctrl-C while nothing is asked. The function that it returns stops listening. */
  onInterrupt(listener: () => void): () => void;
  close(): void;
}

const hint = '(Ctrl-C again to quit)\n';

/** The process's own. Between questions the terminal is as the shell left it, so that Ctrl-C is a signal. */
export function nodeTerminal(): ChatTerminal {
  return process.stdin.isTTY ? personTerminal() : pipedTerminal();
}

function personTerminal(): ChatTerminal {
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
          // Ctrl-D leaves the cursor behind the prompt.
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
