import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react';
import { acceptsText, describeDecision } from '../decisions/describe-decision.ts';
import type { AnswerInput, ServerInfo } from '../api.ts';
import { AnswerContext, type AnswerHandler } from '../decisions/use-answer.ts';
import type { RunEvents } from '../inspect-types.ts';
import { noRun } from '../run/run-events.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { navigate } from '../use-location.ts';
import { AgentPicker } from '../agents/agent-picker.tsx';
import { Composer } from './composer/composer.tsx';
import { MessageRow } from './message-row.tsx';
import { Waiting } from './message/message-view.tsx';
import { Failure } from './message/run-failure.tsx';
import { getMessageMetadata } from '../intertie-metadata.ts';
import { QueuedMessages } from './composer/queued-messages.tsx';
import type { Draft, SessionState, ThreadSession } from './session/thread-session.ts';
import { useFoldedRun } from '../run/use-folded-run.ts';
import { useFollow } from './use-follow.ts';
import { getSpeakerNames } from './message/message-content.ts';
import { useLinkedMessage } from './use-linked-message.ts';
import { useMessageWindow } from './use-message-window.ts';
import { useInternalMessages } from './use-internal-messages.ts';

export type ChatViewProps = {
  session: ThreadSession;
  state: SessionState;
  server: ServerInfo | undefined;
  events: RunEvents;
  /** Shows the chat after this many events of the inspected run. */
  scrub: number | undefined;
  isInternalShown: boolean;
  onEndScrub: () => void;
  /** Called with the newest run of the thread. */
  onRun: (run: { runId: string; agent?: string } | undefined) => void;
  onInspect: (runId: string) => void;
  /** Called with the names of the agents in the thread, one per line. */
  onAgents: (names: string) => void;
};

/** Messages of a thread and the composer. */
export function ChatView(props: ChatViewProps): ReactNode {
  const { session, state, server, events, scrub, isInternalShown, onEndScrub, onRun, onInspect, onAgents } = props;
  const { messages, status, error } = useChat({ chat: session.chat, experimental_throttle: 40 });
  const { scroller, content, isFollowing, follow, release } = useFollow();
  const isBusy = status === 'submitted' || status === 'streaming';
  const last = messages.at(-1);
  const lastAnswer = messages.findLast(({ role }) => role === 'assistant');
  const newest = lastAnswer && getMessageMetadata(lastAnswer).runId;
  const liveRun = state.live?.runId;
  const agent = state.live?.agent ?? state.agent;
  // A flow that asks without a question part is answered with a message.
  const isWaiting =
    last?.role === 'assistant' && getMessageMetadata(last).status === 'paused' && state.decisions.length === 0;

  useEffect(() => {
    const run = newest ?? liveRun;
    onRun(run === undefined ? undefined : { runId: run, ...(agent !== undefined && { agent }) });
  }, [newest, liveRun, agent, onRun]);

  const agentNames = joinAgentNames(messages);
  useEffect(() => onAgents(agentNames), [agentNames, onAgents]);

  const withInternal = useInternalMessages(session.threadId, { isOn: isInternalShown, events, version: state.authors });
  const scrubbed = useScrubbed(messages, events, scrub, isInternalShown);
  const shown = scrubbed ?? messages.map((message) => withInternal.get(message.id) ?? message);

  const { first, showEarlier, showFrom } = useMessageWindow(scroller, session.threadId, shown.length);
  useLinkedMessage({ session, messages: shown, scroller, first, showFrom, release });

  const answerHandler = useMemo<AnswerHandler>(
    () => ({
      isOpen: scrub === undefined,
      answeredBy: state.answeredBy,
      isAlone: server?.loopback ?? false,
      answer: async (answer) => {
        const id = 'questionId' in answer ? answer.questionId : answer.toolCallId;
        const run = state.decisions.find((decision) => decision.id === id)?.runId ?? newest;
        return run === undefined ? 'No run is waiting for this answer.' : session.answer(run, [answer]);
      },
    }),
    [scrub, state.decisions, state.answeredBy, server?.loopback, newest, session],
  );

  const pastHandler = useMemo<AnswerHandler>(
    () => ({ ...closedHandler, answeredBy: state.answeredBy, isAlone: server?.loopback ?? false }),
    [state.answeredBy, server?.loopback],
  );

  // With one open question that takes text, the composer answers it.
  const [decision, ...otherDecisions] = state.decisions;
  const [dismissed, setDismissed] = useState<string>();
  const [answerError, setAnswerError] = useState<string>();
  const asked =
    decision && otherDecisions.length === 0 && acceptsText(decision) && decision.id !== dismissed
      ? decision
      : undefined;
  const send = (draft: Draft): void => {
    follow();
    if (asked === undefined || draft.files.length > 0) return session.send(draft);
    const answer: AnswerInput =
      asked.kind === 'client-tool'
        ? { toolCallId: asked.toolCallId, output: draft.text }
        : { questionId: asked.id, value: draft.text };
    void session.answer(asked.runId, [answer]).then(setAnswerError);
  };

  return (
    <>
      <div ref={scroller} className="scroller" tabIndex={-1}>
        <div ref={content} className="messages" role="log" aria-label="Messages" aria-busy={isBusy}>
          {state.status === 'loading' && shown.length === 0 && <p className="empty">Loading…</p>}
          {state.status === 'failed' && !error && <Failure text={state.error} onRetry={() => void session.refresh()} />}
          {state.status === 'missing' && shown.length === 0 && (
            <div className="empty">
              <p>Thread not found. It may have been deleted.</p>
              <Button onClick={() => navigate({ thread: undefined, view: 'chat' })}>New thread</Button>
            </div>
          )}
          {first > 0 && (
            <Button variant="quiet" onClick={showEarlier}>
              Show earlier messages
            </Button>
          )}
          {shown.slice(first).map((message) => {
            const isLast = message === shown.at(-1);
            const isLive = isLast && isBusy && message.role === 'assistant' && scrub === undefined;
            return (
              <AnswerContext key={message.id} value={isLast ? answerHandler : pastHandler}>
                <MessageRow
                  session={session}
                  message={message}
                  // The author of a new answer is known before the runs are read again.
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
              </AnswerContext>
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
        {state.status === 'missing' ? undefined : scrub === undefined ? (
          <>
            <QueuedMessages session={session} queued={state.queued} isBusy={isBusy} />
            {asked && (
              <p className="answer-note" role="status">
                <span>
                  Answering: <b>{describeDecision(asked)}</b>
                </span>
                <Button variant="quiet" onClick={() => setDismissed(asked.id)}>
                  Send a new message instead
                </Button>
              </p>
            )}
            <ErrorMessage text={answerError} />
            <Composer
              key={session.threadId}
              label="Your message"
              isBusy={isBusy}
              hint={getHint(state, asked !== undefined, isWaiting)}
              sendLabel={asked ? 'Answer' : 'Send'}
              canSendWhileBusy={asked !== undefined}
              onQueue={(draft) => session.enqueue(draft)}
              onReplace={(draft) => session.replace(draft)}
              onStop={() => session.stop()}
              onSend={send}
            >
              <AgentPicker
                agents={server?.agents ?? []}
                agent={state.agent}
                onChoose={(name) => session.chooseAgent(name)}
              />
            </Composer>
          </>
        ) : (
          <div className="scrub-note" role="status">
            <span>Showing the chat after {scrub} events of the run.</span>
            <IconButton icon="close" label="Back to the current chat" onClick={onEndScrub} />
          </div>
        )}
      </footer>
    </>
  );
}

function getHint(state: SessionState, isAnswering: boolean, isWaiting: boolean): string {
  if (isAnswering) return 'Your answer';
  if (state.decisions.length > 0) return 'A new message cancels the open request';
  return isWaiting ? 'The agent is waiting for your reply' : 'Ask something';
}

/** Returns the distinct agent names, one per line: a string compares by value in effects. */
function joinAgentNames(messages: readonly UIMessage[]): string {
  return [...new Set(messages.flatMap((message) => getSpeakerNames(message)))].join('\n');
}

const closedHandler: AnswerHandler = {
  isOpen: false,
  answeredBy: {},
  isAlone: false,
  answer: async () => 'A later message follows this question.',
};

/** Returns the messages before the inspected run, followed by the run's message at the scrubbed position. */
function useScrubbed(
  messages: readonly UIMessage[],
  events: RunEvents,
  scrub: number | undefined,
  includeInternal: boolean,
): UIMessage[] | undefined {
  // Subscribes to the run only while scrubbing.
  const { subscribe, snapshot } = scrub === undefined ? noRun : events;
  const { entries } = useSyncExternalStore(subscribe, snapshot);
  const folded = useFoldedRun(entries, { count: scrub ?? 0, includeInternal });
  return useMemo(() => {
    if (scrub === undefined) return undefined;
    const first = entries[0]?.event;
    const index = messages.findIndex(({ id }) => first?.type === 'run-start' && id === first.messageId);
    const before = messages.slice(0, index === -1 ? messages.length : index);
    return folded === undefined ? before : [...before, folded];
  }, [messages, entries, scrub, folded]);
}
