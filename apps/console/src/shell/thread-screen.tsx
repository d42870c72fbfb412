import type { AgentEvent, Tape } from '@intertie/core';
import { useCallback, useState, type ReactNode } from 'react';
import type { Frame } from '../app.tsx';
import { api, type ServerInfo } from '../api.ts';
import { ChatView } from '../chat/chat-view.tsx';
import { useSession } from '../chat/use-session.ts';
import { WireMenu } from '../chat/wire-menu.tsx';
import type { RunEvents } from '../inspect-types.ts';
import { Icon } from '../ui/icon.tsx';
import { recordedRun } from '../run-events.ts';
import { AgentColors } from '../use-agent-color.ts';
import { useRunEvents } from '../use-run-events.ts';
import { go, type Pane } from '../use-location.ts';
import { useTopology } from '../use-topology.ts';
import { ChatBar } from './chat-bar.tsx';
import { InspectorFrame } from './inspector-frame.tsx';
import { useLatest } from './use-latest.ts';
import { useThreadColors } from './use-thread-colors.ts';
import { useThreadTitle } from './use-thread-title.ts';

type Run = { runId: string; agent?: string };

/** A thread: its chat, and one of its runs beside it. */
export function ThreadScreen({
  threadId,
  server,
  pane,
  frame,
}: {
  threadId: string;
  server: ServerInfo | undefined;
  pane: Pane;
  frame: Frame;
}): ReactNode {
  const { session, state } = useSession(threadId);
  const [newest, setNewest] = useState<Run>();
  const [pinned, setPinned] = useState<string>();
  const [scrub, setScrub] = useState<number>();
  const [tape, setTape] = useState<RunEvents>();
  const [speakers, setSpeakers] = useState('');
  const title = useThreadTitle(session, state.isNew);
  const onRun = useCallback((run: Run | undefined): void => {
    setNewest((known) => (known?.runId === run?.runId && known?.agent === run?.agent ? known : run));
    // What is said now is what is looked at.
    setPinned(undefined);
    setScrub(undefined);
  }, []);
  const runId = pinned ?? newest?.runId;
  const agent = newest?.agent ?? state.agent;
  const followed = useRunEvents(runId, threadId, frame.isInspectorOpen || frame.isInternalShown);
  const events = tape ?? followed;
  const described = useTopology(agent)?.agents.map(({ name }) => name) ?? [];
  const authors = [...Object.values(state.authors), ...(agent === undefined ? [] : [agent])];
  const colors = useThreadColors(authors, [...described, ...speakers.split('\n')], events);
  const onTape = (next: Tape<AgentEvent> | undefined): void => {
    setTape(next && recordedRun(next.items.map(({ item }) => item)));
    setScrub(undefined);
  };
  const { isInspectorOpen, toggleInspector } = frame;
  const openInspector = useLatest(() => {
    if (!isInspectorOpen) toggleInspector();
  });
  const inspect = useCallback(
    (run: string): void => {
      setPinned(run);
      openInspector();
      if (matchMedia('(max-width: 760px)').matches) go({ view: 'inspect' });
    },
    [openInspector],
  );
  return (
    <AgentColors value={colors}>
      <main className="chat">
        <ChatBar
          title={title}
          isInternalShown={frame.isInternalShown}
          isInspectorOpen={frame.isInspectorOpen}
          onInternal={frame.toggleInternal}
          onInspector={frame.toggleInspector}
          onHelp={frame.openHelp}
        >
          {!state.isNew && (
            <a
              className="icon-button"
              href={api.urls.threadExport(threadId)}
              download={`${threadId}.jsonl`}
              aria-label="Download the thread"
              title="Download the thread"
            >
              <Icon name="download" />
            </a>
          )}
          {server?.loopback && <WireMenu threadId={threadId} notes={state.wire} />}
        </ChatBar>
        <ChatView
          session={session}
          state={state}
          server={server}
          events={events}
          scrub={scrub}
          isInternalShown={frame.isInternalShown}
          onEndScrub={() => setScrub(undefined)}
          onRun={onRun}
          onInspect={inspect}
          onAgents={setSpeakers}
        />
      </main>
      {frame.isInspectorOpen && (
        <InspectorFrame
          pane={pane}
          threadId={threadId}
          {...(runId !== undefined && { runId })}
          {...(agent !== undefined && { agent })}
          events={events}
          onLeaf={(messageId) => void session.showLeaf(messageId)}
          onScrub={setScrub}
          onTape={onTape}
          onClose={frame.toggleInspector}
        />
      )}
    </AgentColors>
  );
}
