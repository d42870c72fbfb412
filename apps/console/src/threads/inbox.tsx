import type { KeyboardEvent, ReactNode } from 'react';
import type { OpenQuestion, ThreadInfo } from '../api.ts';
import { describeDecision, findQuestion, summarizeInput } from '../decisions/describe-decision.ts';
import { useAgentColor } from '../agents/use-agent-color.ts';
import { navigate } from '../use-location.ts';
import type { Waiting } from './use-waiting.ts';

/** Names what the user has to give. */
function getKind(question: OpenQuestion): string {
  if (question.kind === 'approval') return 'Approval';
  return question.kind === 'client-tool' && findQuestion(question.input) === undefined ? 'Tool result' : 'Question';
}

/** Describes a question in one line. An approval without a text names its call. */
function describe(question: OpenQuestion): ReactNode {
  const { kind, toolName, input } = question;
  if (kind !== 'approval' || toolName === undefined || question.question.message !== undefined)
    return describeDecision(question);
  const summary = summarizeInput(input);
  return (
    <>
      Run <code>{toolName}</code>
      {summary === '' ? '?' : ` with ${summary}?`}
    </>
  );
}

/** Moves the focus between the rows of the inbox. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  if (by === undefined) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('a')];
  const at = rows.findIndex((row) => row === document.activeElement);
  event.preventDefault();
  event.stopPropagation();
  rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
}

/** Open questions and paused threads. A row opens its thread. */
export function Inbox({ waiting, current }: { waiting: Waiting; current: string | undefined }): ReactNode {
  if (waiting.count === 0) return <p className="empty">Nothing waits for you.</p>;
  return (
    <ul className="threads inbox" aria-label="Waiting for you" onKeyDown={moveFocus}>
      {waiting.questions.map((question) => (
        <Row
          key={`${question.runId} ${question.id}`}
          thread={{ ...question, id: question.threadId }}
          text={describe(question)}
          kind={getKind(question)}
          current={current}
        />
      ))}
      {waiting.threads.map((thread) => (
        <Row key={thread.id} thread={thread} text="Waits for your message" kind="Message" current={current} />
      ))}
    </ul>
  );
}

function Row({
  thread,
  text,
  kind,
  current,
}: {
  thread: Pick<ThreadInfo, 'id' | 'title' | 'agent'>;
  text: ReactNode;
  kind: string;
  current: string | undefined;
}): ReactNode {
  const getColor = useAgentColor();
  return (
    <li className="thread" data-current={thread.id === current || undefined}>
      <a
        href={`?thread=${encodeURIComponent(thread.id)}`}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          navigate({ thread: thread.id, view: 'chat' });
        }}
      >
        <span className="question-text">{text}</span>
        <span className="meta">
          <span className="agent">
            {thread.agent !== undefined && (
              <>
                <span className="dot" style={{ background: getColor(thread.agent) }} />
                {thread.agent}
                {' · '}
              </>
            )}
            {thread.title ?? 'Untitled'}
          </span>
          <span className="kind">{kind}</span>
        </span>
      </a>
    </li>
  );
}
