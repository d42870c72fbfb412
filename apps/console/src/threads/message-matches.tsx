import type { ReactNode } from 'react';
import type { MatchInfo } from '../api.ts';
import { ErrorMessage } from '../ui/error-message.tsx';
import { navigate } from '../use-location.ts';
import { formatDate } from './format-date.ts';
import { useMessageSearch } from './use-message-search.ts';

const roles: { readonly [role: string]: string } = { user: 'You', assistant: 'Answer' };

/** Messages whose text contains the words of a search, newest first. A row opens the thread at its message. */
export function MessageMatches({ search, current }: { search: string; current: string | undefined }): ReactNode {
  const { matches, error } = useMessageSearch(search);
  return (
    <section className="message-matches" aria-label="Messages">
      <h2>Messages</h2>
      <ErrorMessage text={error} />
      {matches?.length === 0 && <p className="empty">No message contains these words.</p>}
      {matches && matches.length > 0 && (
        <ul className="threads">
          {matches.map((match) => (
            <Row key={`${match.threadId} ${match.messageId}`} match={match} isCurrent={match.messageId === current} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ match, isCurrent }: { match: MatchInfo; isCurrent: boolean }): ReactNode {
  const { threadId: thread, messageId: message, title, role, createdAt, excerpt } = match;
  return (
    <li className="thread match" data-current={isCurrent || undefined}>
      <a
        href={`?${new URLSearchParams({ thread, message })}`}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          navigate({ thread, message, view: 'chat' });
        }}
      >
        <span className="excerpt" dir="auto">
          {excerpt.map(({ text, isMatch }, index) => (isMatch ? <mark key={index}>{text}</mark> : text))}
        </span>
        <span className="meta">
          <span className="agent">
            {roles[role] ?? role} · {title ?? 'Untitled'}
          </span>
          <time dateTime={createdAt}>{formatDate(createdAt)}</time>
        </span>
      </a>
    </li>
  );
}
