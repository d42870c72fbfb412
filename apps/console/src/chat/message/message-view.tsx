import type { UIMessage } from 'ai';
import { memo, type CSSProperties, type ReactNode } from 'react';
import { useAgentColor } from '../../agents/use-agent-color.ts';
import { isWebUrl, getSources, splitByAgent, type Source } from './message-content.ts';
import { getPartKey, PartView } from './part-view.tsx';
import { AgentSegmentView } from './agent-segment-view.tsx';

/** Message of a user, or an answer as a sequence of segments, one per agent. `children` are shown below it. */
export const MessageView = memo(function Message({
  message,
  author,
  isLive,
  children,
}: {
  message: UIMessage;
  /** Agent that wrote the message. Shown if its parts do not name an agent. */
  author?: string | undefined;
  isLive: boolean;
  children?: ReactNode;
}): ReactNode {
  const getColor = useAgentColor();
  if (message.role !== 'assistant') {
    const files = message.parts.filter(({ type }) => type === 'file');
    const rest = message.parts.filter(({ type }) => type !== 'file');
    return (
      <article
        className="message user"
        data-message={message.id}
        aria-label={message.role === 'user' ? 'You' : 'Instructions'}
        tabIndex={-1}
      >
        <div className="bubble">
          {files.length > 0 && (
            <div className="files">
              {files.map((part, index) => (
                <PartView key={index} part={part} isLive={false} />
              ))}
            </div>
          )}
          {rest.map((part, index) =>
            part.type === 'text' ? (
              <p key={index} dir="auto">
                {part.text}
              </p>
            ) : (
              <PartView key={getPartKey(part, index)} part={part} isLive={false} />
            ),
          )}
        </div>
        {children}
      </article>
    );
  }
  const segments = splitByAgent(message);
  const isAnonymous = segments.every(({ speaker }) => speaker === undefined);
  return (
    <article
      className="message assistant"
      data-message={message.id}
      aria-label="Answer"
      aria-busy={isLive}
      tabIndex={-1}
    >
      {isAnonymous && author !== undefined && (
        <h2 className="speaker" style={{ '--agent': getColor(author) } as CSSProperties}>
          <span className="dot" />
          <span className="name">{author}</span>
        </h2>
      )}
      {segments.map((segment) => (
        <AgentSegmentView key={segment.key} segment={segment} isLive={isLive} />
      ))}
      {isLive && segments.length === 0 && <Waiting />}
      <Sources sources={getSources(message)} />
      {children}
    </article>
  );
});

export function Waiting(): ReactNode {
  return (
    <p className="waiting" role="status">
      <span className="shimmer">Working…</span>
    </p>
  );
}

function Sources({ sources }: { sources: Source[] }): ReactNode {
  if (sources.length === 0) return undefined;
  return (
    <ol className="sources" aria-label="Sources">
      {sources.map(({ id, title, url }) => (
        <li key={id}>
          {url !== undefined && isWebUrl(url) ? (
            <a href={url} target="_blank" rel="noreferrer">
              {title}
            </a>
          ) : (
            title
          )}
        </li>
      ))}
    </ol>
  );
}
