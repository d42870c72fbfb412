import type { CanonicalMessage, MessagePart } from '@intertie/core';
import { memo, type ReactNode } from 'react';
import { Markdown } from '../../chat/message/markdown.tsx';
import { useAgentColor } from '../../agents/use-agent-color.ts';
import { compactJson } from '../compact-json.ts';
import { getStatusLabel } from '../status-labels.ts';

/** Canonical message in a compact form: text, tools and questions with their agents. */
export const TapeMessage = memo(function TapeMessage({
  message,
  isEmpty,
}: {
  message: CanonicalMessage | undefined;
  /** Whether there is no run. */
  isEmpty: boolean;
}): ReactNode {
  if (isEmpty) return <p className="empty">No run yet. Send a message, or open a tape.</p>;
  if (!message) return <p className="empty">Before the first event</p>;
  const { parts, agents = {} } = message.content;
  return (
    <article className="tape-message" aria-label="Message at this event">
      {parts.map((part, index) => (
        <PartView
          key={index}
          part={part}
          agent={part.agentId === undefined ? undefined : (agents[part.agentId]?.name ?? part.agentId)}
        />
      ))}
      <p className="tape-status">{message.status !== undefined && getStatusLabel(message.status)}</p>
    </article>
  );
});

function PartView({ part, agent }: { part: MessagePart; agent: string | undefined }): ReactNode {
  const getColor = useAgentColor();
  return (
    <div className="tape-part" data-type={part.type} data-internal={part.internal}>
      {agent !== undefined && (
        <span className="who" style={{ color: getColor(agent) }}>
          {agent}
          {part.to && ` to ${part.to.join(', ')}`}
        </span>
      )}
      <PartBody part={part} />
    </div>
  );
}

function PartBody({ part }: { part: MessagePart }): ReactNode {
  switch (part.type) {
    case 'text':
      return <Markdown text={part.text} isStreaming={false} />;
    case 'reasoning':
      return (
        <div className="aside">
          <Markdown text={part.reasoning} isStreaming={false} />
        </div>
      );
    case 'tool-invocation':
      return (
        <p className="call">
          <span className="call-state" data-state={part.state}>
            {part.approval && !part.approval.answer ? 'needs approval' : getStatusLabel(part.state)}
          </span>
          <code>{part.toolName}</code> <span>{part.argsText ?? compactJson(part.args ?? null)}</span>
          {part.result !== undefined && <span className="result">{compactJson(part.result)}</span>}
          {part.error && <span className="result">{part.error.message}</span>}
        </p>
      );
    case 'question':
      return <p>{part.message ?? part.reason ?? part.questionId}</p>;
    case 'file':
      return <p className="aside">{part.filename ?? part.mimeType ?? 'file'}</p>;
    case 'source':
      return <p className="aside">{part.title ?? part.url ?? part.filename}</p>;
    case 'data':
      return (
        <p className="aside">
          <code>{part.name}</code> {compactJson(part.data)}
        </p>
      );
    case 'interjection':
      return (
        <p className="aside">
          {part.parts.map((inner) => (inner.type === 'text' ? inner.text : inner.type)).join(' ')}
        </p>
      );
  }
}
