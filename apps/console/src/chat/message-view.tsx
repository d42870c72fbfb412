import type { UIMessage } from 'ai';
import { memo, type CSSProperties, type ReactNode } from 'react';
import { useAgentColor } from '../use-agent-color.ts';
import { isWeb, sourcesOf, turnsOf, type Source } from './turns.ts';
import { partKey, PartView } from './part-view.tsx';
import { TurnView } from './turn-view.tsx';

/** A message: a user's in its box, an assistant's as the turns of its agents. `children` come below it. */
export const MessageView = memo(function Message({
  message,
  author,
  isLive,
  children,
}: {
  message: UIMessage;
  /** Whose answer it is. Shown where its parts do not say who speaks. */
  author?: string | undefined;
  isLive: boolean;
  children?: ReactNode;
}): ReactNode {
  const colorOf = useAgentColor();
  if (message.role !== 'assistant') {
    const files = message.parts.filter(({ type }) => type === 'file');
    const words = message.parts.filter(({ type }) => type !== 'file');
    return (
      <article className="message user" aria-label={message.role === 'user' ? 'You' : 'Instructions'} tabIndex={-1}>
        <div className="bubble">
          {files.length > 0 && (
            <div className="files">
              {files.map((part, index) => (
                <PartView key={index} part={part} isLive={false} />
              ))}
            </div>
          )}
          {words.map((part, index) =>
            part.type === 'text' ? (
              <p key={index}>{part.text}</p>
            ) : (
              <PartView key={partKey(part, index)} part={part} isLive={false} />
            ),
          )}
        </div>
        {children}
      </article>
    );
  }
  const turns = turnsOf(message);
  const isAnonymous = turns.every(({ speaker }) => speaker === undefined);
  return (
    <article className="message assistant" aria-label="Answer" aria-busy={isLive} tabIndex={-1}>
      {isAnonymous && author !== undefined && (
        <h2 className="speaker" style={{ '--agent': colorOf(author) } as CSSProperties}>
          <span className="dot" />
          <span className="name">{author}</span>
        </h2>
      )}
      {turns.map((turn) => (
        <TurnView key={turn.key} turn={turn} isLive={isLive} />
      ))}
      {isLive && turns.length === 0 && <Waiting />}
      <Sources sources={sourcesOf(message)} />
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
          {url !== undefined && isWeb(url) ? (
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
