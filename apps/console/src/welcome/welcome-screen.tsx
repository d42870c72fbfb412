import { generateId, type AgentEvent, type Tape } from '@intertie/core';
import { useEffect, useState, type ReactNode } from 'react';
import type { Layout } from '../app.tsx';
import type { ServerInfo } from '../api.ts';
import { startThread } from '../chat/session/use-session.ts';
import type { Draft } from '../chat/session/thread-session.ts';
import type { RunEvents } from '../inspect-types.ts';
import { noRun, createRecordedRun } from '../run/run-events.ts';
import { ChatBar } from '../shell/chat-bar.tsx';
import { InspectorFrame } from '../shell/inspector-frame.tsx';
import { useThreadColors } from '../shell/use-thread-colors.ts';
import { AgentColors } from '../agents/use-agent-color.ts';
import { navigate, type Pane } from '../use-location.ts';
import { playTape } from './play-tape.ts';
import { Welcome } from './welcome.tsx';

function start(agent: string | undefined, draft: Draft): void {
  const threadId = generateId();
  startThread(threadId, agent, draft);
  navigate({ thread: threadId, view: 'chat' });
}

const noNames: readonly string[] = [];

/** The recording plays once per page load and is shown complete afterwards. */
let hasPlayed = false;

/** Screen without a thread: a recorded run and suggestions. */
export function WelcomeScreen({
  server,
  error,
  pane,
  layout,
}: {
  server: ServerInfo | undefined;
  error: string | undefined;
  pane: Pane;
  layout: Layout;
}): ReactNode {
  const [events, setEvents] = useState<RunEvents>(noRun);
  const [prompt, setPrompt] = useState('');
  const [scrub, setScrub] = useState<number>();
  const show = (tape: Tape<AgentEvent>, isInstant: boolean): void => {
    const { prompt: tapePrompt, title } = tape.header;
    setEvents(isInstant ? createRecordedRun(tape.items.map(({ item }) => item)) : playTape(tape));
    // The header of an opened tape is not validated.
    setPrompt([tapePrompt, title].find((text) => typeof text === 'string') ?? 'A tape');
    setScrub(undefined);
  };
  const showFirst = async (): Promise<void> => {
    const { firstRun } = await import('./first-run.ts');
    show(firstRun, hasPlayed || matchMedia('(prefers-reduced-motion: reduce)').matches);
    hasPlayed = true;
  };
  useEffect(() => void showFirst(), []);
  const colors = useThreadColors(noNames, noNames, events);
  return (
    <AgentColors value={colors}>
      <main className="chat">
        <ChatBar
          title="New thread"
          isInternalShown={layout.isInternalShown}
          isInspectorOpen={layout.isInspectorOpen}
          onInternal={layout.toggleInternal}
          onInspector={layout.toggleInspector}
          onHelp={layout.openHelp}
        />
        <Welcome
          server={server}
          error={error}
          events={events}
          prompt={prompt}
          scrub={scrub}
          isInternalShown={layout.isInternalShown}
          onStart={start}
        />
      </main>
      {layout.isInspectorOpen && (
        <InspectorFrame
          pane={pane}
          threadId=""
          {...(events !== noRun && { runId: events.snapshot().runId })}
          events={events}
          onLeaf={() => undefined}
          onRunAgain={async () => 'This is a recording.'}
          onScrub={setScrub}
          onTape={(tape) => (tape === undefined ? void showFirst() : show(tape, true))}
          onClose={layout.toggleInspector}
        />
      )}
    </AgentColors>
  );
}
