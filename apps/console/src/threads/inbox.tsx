import type { KeyboardEvent, ReactNode } from 'react';
import type { OpenQuestion } from '../api.ts';
import { describeDecision, findQuestion, summarizeInput } from '../decisions/describe-decision.ts';
import { useAgentColor } from '../agents/use-agent-color.ts';
import { navigate } from '../use-location.ts';

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

/** Open questions of all threads. A row opens the thread of its question. */
export function Inbox({
  questions,
  current,
}: {
  questions: readonly OpenQuestion[];
  current: string | undefined;
}): ReactNode {
  const getColor = useAgentColor();
  if (questions.length === 0) return <p className="empty">Nothing waits for you.</p>;
  return (
    <ul className="threads inbox" aria-label="Waiting for you" onKeyDown={moveFocus}>
      {questions.map((question) => (
        <li
          key={`${question.runId} ${question.id}`}
          className="thread"
          data-current={question.threadId === current || undefined}
        >
          <a
            href={`?thread=${encodeURIComponent(question.threadId)}`}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey) return;
              event.preventDefault();
              navigate({ thread: question.threadId, view: 'chat' });
            }}
          >
            <span className="question-text">{describe(question)}</span>
            <span className="meta">
              <span className="agent">
                {question.agent !== undefined && (
                  <>
                    <span className="dot" style={{ background: getColor(question.agent) }} />
                    {question.agent}
                    {' · '}
                  </>
                )}
                {question.title ?? 'Untitled'}
              </span>
              <span className="kind">{getKind(question)}</span>
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
