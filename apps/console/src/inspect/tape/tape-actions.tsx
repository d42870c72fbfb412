import { formatTape, type AgentEvent, type Tape } from '@intertie/core';
import { useRef, type ReactNode } from 'react';
import { api } from '../../api.ts';
import type { RunSnapshot } from '../../inspect-types.ts';
import { Button } from '../../ui/button.tsx';
import { createRerunCommand, createTestCode, createReadCommand } from './run-as-code.ts';
import { createTape } from './create-tape.ts';
import type { useTapeFiles } from './use-tape-files.ts';

/** Buttons that open a tape and export the run as a file, a test or a command. */
export function TapeActions(props: {
  run: RunSnapshot;
  /** Whether the run comes from a tape and not from the thread. */
  isTape: boolean;
  threadId: string;
  agent: string | undefined;
  files: ReturnType<typeof useTapeFiles>;
  /** Returns from the tape to the run of the thread. */
  onBack: () => void;
}): ReactNode {
  const { run, isTape, threadId, agent, files, onBack } = props;
  const { result, perform, open } = files;
  const input = useRef<HTMLInputElement>(null);
  const title = run.runId ?? 'run';
  const events = run.entries.map(({ event }) => event);
  const isEmpty = events.length === 0;

  const copy = (name: string, getText: () => string | Promise<string>): void =>
    perform(`${name} copied.`, async () => navigator.clipboard.writeText(await getText()));
  const getRerunCommand = async (): Promise<string> => {
    const start = events.find((event) => event.type === 'run-start');
    const { messages } = await api.messages(
      threadId,
      start?.parentMessageId === undefined ? {} : { leaf: start.parentMessageId },
    );
    const last = messages.findLastIndex(({ id, role }) => id === start?.parentMessageId || role === 'user');
    return createRerunCommand(location.origin, api.urls.chat(agent ?? ''), messages.slice(0, last + 1));
  };

  return (
    <section className="tape-actions" aria-label="Import and export">
      <input
        ref={input}
        hidden
        type="file"
        accept=".jsonl,.ndjson,application/jsonl"
        aria-label="Tape file"
        onChange={(event) => {
          open(event.target.files?.[0]);
          event.target.value = '';
        }}
      />
      <Button icon="file" title="Shows a recorded run from a file (.tape.jsonl)" onClick={() => input.current?.click()}>
        Open tape
      </Button>
      {isTape && (
        <Button variant="quiet" onClick={onBack}>
          Back to the run
        </Button>
      )}
      <Button
        icon="download"
        disabled={isEmpty}
        title="Saves the run as a tape: its events with their times, one per line"
        onClick={() => download(createTape(run, title), `${title}.tape.jsonl`)}
      >
        Download
      </Button>
      <Button
        variant="quiet"
        icon="copy"
        disabled={isEmpty}
        title="Copies a Vitest test that checks these events and the message they produce"
        onClick={() => copy('Test', () => createTestCode(events, title))}
      >
        Copy as test
      </Button>
      <Button
        variant="quiet"
        icon="copy"
        disabled={isEmpty || isTape}
        title="Copies a curl command that reads the events of this run"
        onClick={() =>
          copy('Command', () =>
            createReadCommand(location.origin, api.urls.runEvents(title, threadId, { isLive: false })),
          )
        }
      >
        Copy curl to read
      </Button>
      <Button
        variant="quiet"
        icon="copy"
        disabled={isEmpty || isTape || agent === undefined}
        title="Copies a curl command that sends the same messages in a new thread"
        onClick={() => copy('Command', getRerunCommand)}
      >
        Copy curl to run again
      </Button>
      <p role="status" data-bad={result?.isError}>
        {result?.text}
      </p>
    </section>
  );
}

function download(tape: Tape<AgentEvent>, name: string): void {
  const url = URL.createObjectURL(new Blob([formatTape(tape as unknown as Tape)], { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
