import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useSyncExternalStore, type ReactNode } from 'react';
import type { ServerInfo } from '../api.ts';
import { DecideContext, type Decide } from '../decide/decide-context.ts';
import type { RunEvents } from '../inspect-types.ts';
import { noRun } from '../run-events.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { AgentPicker } from './agent-picker.tsx';
import { Composer } from './composer.tsx';
import { MessageRow } from './message-row.tsx';
import { Waiting } from './message-view.tsx';
import { Failure } from './run-failure.tsx';
import { messageSlotOf } from './slot.ts';
import type { SessionState, ThreadSession } from './thread-session.ts';
import { useFoldedRun } from './use-folded-run.ts';
import { useFollow } from './use-follow.ts';
import { speakerNames } from './turns.ts';
import { useInternalMessages } from './use-internal-messages.ts';

export type ChatViewProps = {
  session: ThreadSession;
  state: SessionState;
  server: ServerInfo | undefined;
  events: RunEvents;
  /** The chat as it was after so many events of the run that is looked at. */
  scrub: number | undefined;
  isInternalShown: boolean;
  onEndScrub: () => void;
  /** The newest run of the thread is this one. */
  onRun: (run: { runId: string; agent?: string } | undefined) => void;
  onInspect: (runId: string) => void;
  /** Who speaks in the thread, as one text with a line for each. */
  onAgents: (names: string) => void;
};

/** The messages of a thread, and where the next one is written. */
export function ChatView(props: ChatViewProps): ReactNode {
  const { session, state, server, events, scrub, isInternalShown, onEndScrub, onRun, onInspect, onAgents } = props;
  const { messages, status, error } = useChat({ chat: session.chat, experimental_throttle: 40 });
  const { scroller, content, isFollowing, follow } = useFollow();
  const isBusy = status === 'submitted' || status === 'streaming';
  const last = messages.at(-1);
  const lastAnswer = messages.findLast(({ role }) => role === 'assistant');
  const newest = lastAnswer && messageSlotOf(lastAnswer).runId;
  const liveRun = state.live?.runId;
  const agent = state.live?.agent ?? state.agent;
  // A flow that asks in words is answered in words.
  const isWaiting =
    last?.role === 'assistant' && messageSlotOf(last).status === 'paused' && state.decisions.length === 0;

  useEffect(() => {
    const run = newest ?? liveRun;
    onRun(run === undefined ? undefined : { runId: run, ...(agent !== undefined && { agent }) });
  }, [newest, liveRun, agent, onRun]);

  const speakers = agentsIn(messages);
  useEffect(() => onAgents(speakers), [speakers, onAgents]);

  const withInternal = useInternalMessages(session.threadId, { isOn: isInternalShown, events, version: state.authors });
  const scrubbed = useScrubbed(messages, events, scrub, isInternalShown);
  const shown = scrubbed ?? messages.map((message) => withInternal.get(message.id) ?? message);

  const decide = useMemo<Decide>(
    () => ({
      isOpen: scrub === undefined,
      answer: async (answer) => {
        const id = 'questionId' in answer ? answer.questionId : answer.toolCallId;
        const asker = state.decisions.find((decision) => decision.id === id)?.runId ?? newest;
        return asker === undefined ? 'No run is known that waits for it.' : session.answer(asker, [answer]);
      },
    }),
    [scrub, state.decisions, newest, session],
  );

  return (
    <>
      <div ref={scroller} className="scroller" tabIndex={-1}>
        <div ref={content} className="messages" role="log" aria-label="Messages" aria-busy={isBusy}>
          {state.status === 'loading' && shown.length === 0 && <p className="empty">Loading…</p>}
          {state.status === 'failed' && <Failure text={state.error} onRetry={() => void session.refresh()} />}
          {state.status === 'missing' && shown.length === 0 && (
            <p className="empty">There is no such thread. It may have been deleted.</p>
          )}
          {shown.map((message, index) => {
            const isLast = index === shown.length - 1;
            const isLive = isLast && isBusy && message.role === 'assistant' && scrub === undefined;
            return (
              <DecideContext key={message.id} value={isLast ? decide : closedDecide}>
                <MessageRow
                  session={session}
                  message={message}
                  // Who has just answered is known before the history is read again.
                  author={state.authors[message.id] ?? (isLast ? agent : undefined)}
                  branch={state.branches[message.id]}
                  isLast={isLast}
                  isLive={isLive}
                  isBusy={isBusy}
                  isPast={scrub !== undefined}
                  hasFailureBelow={isLast && error !== undefined}
                  onInspect={onInspect}
                  onEdited={follow}
                />
              </DecideContext>
            );
          })}
          {status === 'submitted' && last?.role === 'user' && <Waiting />}
          {error && <Failure text={error} onRetry={isBusy ? undefined : () => void session.retry()} />}
        </div>
      </div>
      <footer className="foot">
        {!isFollowing && (
          <Button className="to-end" icon="arrowUp" onClick={follow}>
            Follow
          </Button>
        )}
        {scrub === undefined ? (
          <Composer
            key={session.threadId}
            label="Your message"
            isBusy={isBusy}
            hint={isWaiting ? 'It waits for your word' : 'Ask something'}
            onStop={() => session.stop()}
            onSend={(draft) => {
              session.send(draft);
              follow();
            }}
          >
            <AgentPicker
              agents={server?.agents ?? []}
              agent={state.agent}
              onChoose={(name) => session.chooseAgent(name)}
            />
          </Composer>
        ) : (
          <div className="scrub-note" role="status">
            <span>The chat after {scrub} events of the run.</span>
            <IconButton icon="close" label="Back to now" onClick={onEndScrub} />
          </div>
        )}
      </footer>
    </>
  );
}

/** Whoever speaks in these messages, each once. */
function agentsIn(messages: readonly UIMessage[]): string {
  return [...new Set(messages.flatMap((message) => speakerNames(message)))].join('\n');
}

const closedDecide: Decide = { isOpen: false, answer: async () => 'The conversation has gone on.' };

/** The messages before the run that is looked at, and its own as it was. */
function useScrubbed(
  messages: readonly UIMessage[],
  events: RunEvents,
  scrub: number | undefined,
  includeInternal: boolean,
): UIMessage[] | undefined {
  // While the chat shows how it is, a run's events are not its concern.
  const { subscribe, snapshot } = scrub === undefined ? noRun : events;
  const { entries } = useSyncExternalStore(subscribe, snapshot);
  const folded = useFoldedRun(entries, { count: scrub ?? 0, includeInternal });
  return useMemo(() => {
    if (scrub === undefined) return undefined;
    const first = entries[0]?.event;
    const place = messages.findIndex(({ id }) => first?.type === 'run-start' && id === first.messageId);
    const before = messages.slice(0, place === -1 ? messages.length : place);
    return folded === undefined ? before : [...before, folded];
  }, [messages, entries, scrub, folded]);
}
