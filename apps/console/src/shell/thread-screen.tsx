import type { AgentEvent, Tape } from '@intertie/core';
import { useCallback, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import type { Layout } from '../app.tsx';
import { api, type ServerInfo } from '../api.ts';
import { ChatView } from '../chat/chat-view.tsx';
import type { SessionState } from '../chat/session/thread-session.ts';
import { useSession } from '../chat/session/use-session.ts';
import { ConnectionMenu } from '../chat/connection-menu.tsx';
import type { RunEvents } from '../inspect-types.ts';
import { Icon } from '../ui/icon.tsx';
import { createRecordedRun } from '../run/run-events.ts';
import { AgentColors } from '../agents/use-agent-color.ts';
import { useRunEvents } from '../run/use-run-events.ts';
import { navigate, type Pane } from '../use-location.ts';
import { useTopology } from '../agents/use-topology.ts';
import { ChatBar } from './chat-bar.tsx';
import { InspectorFrame } from './inspector-frame.tsx';
import { useThreadColors } from './use-thread-colors.ts';
import { useThreadTitle } from './use-thread-title.ts';

type Run = { runId: string; agent?: string };

/** Thread with its chat and, in the inspector, one of its runs. */
export function ThreadScreen({
  threadId,
  server,
  pane,
  layout,
}: {
  threadId: string;
  server: ServerInfo | undefined;
  pane: Pane;
  layout: Layout;
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
    // A new run is always the inspected one.
    setPinned(undefined);
    setScrub(undefined);
  }, []);
  const runId = pinned ?? newest?.runId;
  const agent = newest?.agent ?? state.agent;
  const followed = useRunEvents(runId, threadId, layout.isInspectorOpen || layout.isInternalShown);
  const events = tape ?? followed;
  const described = useTopology(agent)?.agents.map(({ name }) => name) ?? [];
  const authors = [...Object.values(state.authors), ...(agent === undefined ? [] : [agent])];
  const colors = useThreadColors(authors, [...described, ...speakers.split('\n')], events);
  const onTape = (next: Tape<AgentEvent> | undefined): void => {
    setTape(next && createRecordedRun(next.items.map(({ item }) => item)));
    setScrub(undefined);
  };
  const { isInspectorOpen, toggleInspector } = layout;
  const openInspector = useLatest(() => {
    if (!isInspectorOpen) toggleInspector();
  });
  const inspect = useCallback(
    (run: string): void => {
      setPinned(run);
      openInspector();
      if (matchMedia('(max-width: 900px)').matches) navigate({ view: 'inspect' });
    },
    [openInspector],
  );
  return (
    <AgentColors value={colors}>
      <main className="chat">
        <ChatBar
          title={getTitle(state, title)}
          isInternalShown={layout.isInternalShown}
          isInspectorOpen={layout.isInspectorOpen}
          onInternal={layout.toggleInternal}
          onInspector={layout.toggleInspector}
          onHelp={layout.openHelp}
        >
          {!state.isNew && state.status !== 'missing' && (
            <a
              className="icon-button"
              href={api.urls.threadExport(threadId)}
              download={`${threadId}.jsonl`}
              aria-label="Download thread"
              title="Download thread"
            >
              <Icon name="download" />
            </a>
          )}
          {server?.loopback && state.status !== 'missing' && (
            <ConnectionMenu threadId={threadId} log={state.connectionLog} />
          )}
        </ChatBar>
        <ChatView
          session={session}
          state={state}
          server={server}
          events={events}
          scrub={scrub}
          isInternalShown={layout.isInternalShown}
          onEndScrub={() => setScrub(undefined)}
          onRun={onRun}
          onInspect={inspect}
          onAgents={setSpeakers}
        />
      </main>
      {layout.isInspectorOpen && (
        <InspectorFrame
          pane={pane}
          threadId={threadId}
          {...(runId !== undefined && { runId })}
          {...(agent !== undefined && { agent })}
          events={events}
          onLeaf={(messageId) => void session.showLeaf(messageId)}
          onRunAgain={(messageId, change) => session.runAgain(messageId, change)}
          onScrub={setScrub}
          onTape={onTape}
          onClose={layout.toggleInspector}
        />
      )}
    </AgentColors>
  );
}

function getTitle({ isNew, status }: SessionState, title: string): string {
  if (isNew) return 'New thread';
  return status === 'missing' ? 'Thread not found' : title;
}

/** Returns a function with a stable identity that calls the latest `action`, for memoized components. */
function useLatest(action: () => void): () => void {
  const latest = useRef(action);
  useLayoutEffect(() => {
    latest.current = action;
  });
  return useCallback(() => latest.current(), []);
}
