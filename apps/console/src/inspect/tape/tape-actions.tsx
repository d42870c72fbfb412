import { formatTape, type AgentEvent, type Tape } from '@intertie/core';
import { useRef, type ReactNode } from 'react';
import { api } from '../../api.ts';
import type { RunSnapshot } from '../../inspect-types.ts';
import { Button } from '../../ui/button.tsx';
import { asksAgainCurl, fixtureOf, readingCurl } from './run-as-code.ts';
import { tapeOfRun } from './tape-of-run.ts';
import type { useTapeFiles } from './use-tape-files.ts';

/** In and out: a file, a test, a command. */
export function TapeActions(props: {
  run: RunSnapshot;
  /** Whether it is a tape's, and not the thread's. */
  isTape: boolean;
  threadId: string;
  agent: string | undefined;
  files: ReturnType<typeof useTapeFiles>;
  /** Back from the tape. */
  onBack: () => void;
}): ReactNode {
  const { run, isTape, threadId, agent, files, onBack } = props;
  const { said, attempt, open } = files;
  const input = useRef<HTMLInputElement>(null);
  const title = run.runId ?? 'run';
  const events = run.entries.map(({ event }) => event);
  const isEmpty = events.length === 0;

  const copy = (what: string, text: () => string | Promise<string>): void =>
    attempt(`${what} copied.`, async () => navigator.clipboard.writeText(await text()));
  const again = async (): Promise<string> => {
    const start = events.find((event) => event.type === 'run-start');
    const { messages } = await api.messages(
      threadId,
      start?.parentMessageId === undefined ? {} : { leaf: start.parentMessageId },
    );
    const last = messages.findLastIndex(({ id, role }) => id === start?.parentMessageId || role === 'user');
    return asksAgainCurl(location.origin, api.urls.chat(agent ?? ''), messages.slice(0, last + 1));
  };

  return (
    <section className="tape-actions" aria-label="Tape files and copies">
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
      <Button icon="file" onClick={() => input.current?.click()}>
        Open a tape
      </Button>
      {isTape && (
        <Button variant="quiet" onClick={onBack}>
          Back to the run
        </Button>
      )}
      <Button icon="download" disabled={isEmpty} onClick={() => download(tapeOfRun(run, title), `${title}.tape.jsonl`)}>
        Download
      </Button>
      <Button
        variant="quiet"
        icon="copy"
        disabled={isEmpty}
        onClick={() => copy('The test', () => fixtureOf(events, title))}
      >
        As a test
      </Button>
      <Button
        variant="quiet"
        icon="copy"
        disabled={isEmpty || isTape}
        onClick={() =>
          copy('The command', () =>
            readingCurl(location.origin, api.urls.runEvents(title, threadId, { isLive: false })),
          )
        }
      >
        curl: read it
      </Button>
      <Button
        variant="quiet"
        icon="copy"
        disabled={isEmpty || isTape || agent === undefined}
        onClick={() => copy('The command', again)}
      >
        curl: run it again
      </Button>
      <p role="status" data-bad={said?.isBad}>
        {said?.text}
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
