import { useState, type FormEvent, type ReactNode, type RefObject } from 'react';
import { api, type ServerInfo, type ThreadInfo } from '../api.ts';
import { forgetSession } from '../chat/session/use-session.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { useAgentColor } from '../agents/use-agent-color.ts';
import { navigate } from '../use-location.ts';
import { notifyThreadsChanged } from '../thread-changes.ts';
import { Inbox } from './inbox.tsx';
import { MessageMatches } from './message-matches.tsx';
import { useThreads } from './use-threads.ts';
import { useWaiting } from './use-waiting.ts';
import { formatDate } from './format-date.ts';

/** List of threads with search, rename and delete. */
export function ThreadList({
  current,
  message,
  server,
  searchField,
  isInbox,
  onInbox,
}: {
  current: string | undefined;
  /** Message that the chat shows after a search. */
  message: string | undefined;
  server: ServerInfo | undefined;
  searchField: RefObject<HTMLInputElement | null>;
  /** Whether the list shows only what waits for the user. */
  isInbox: boolean;
  onInbox: (isInbox: boolean) => void;
}): ReactNode {
  const [search, setSearch] = useState('');
  const { threads, error, isLoading, loadMore } = useThreads(search);
  const waiting = useWaiting();
  const waitingIds = new Set([
    ...waiting.questions.map(({ threadId }) => threadId),
    ...waiting.threads.map(({ id }) => id),
  ]);
  return (
    <nav className="sidebar" aria-label="Threads">
      <header className="bar">
        <a
          className="brand"
          href="/"
          onClick={(event) => {
            event.preventDefault();
            navigate({ thread: undefined, view: 'chat' });
          }}
        >
          <img src="/icon.svg" alt="" width={18} height={18} />
          Intertie
        </a>
        <span className="grow" />
        <IconButton
          icon="add"
          label="New thread"
          keys="n"
          onClick={() => navigate({ thread: undefined, view: 'chat' })}
        />
      </header>
      <div className="search">
        <Icon name="search" />
        <input
          ref={searchField}
          type="search"
          value={search}
          placeholder="Search messages"
          aria-label="Search titles and messages"
          onChange={(event) => setSearch(event.target.value)}
        />
        <kbd className="wide-only" aria-hidden="true">
          /
        </kbd>
      </div>
      <div className="thread-filter" role="group" aria-label="Filter threads">
        <button type="button" aria-pressed={!isInbox} onClick={() => onInbox(false)}>
          All
        </button>
        <button type="button" aria-pressed={isInbox} aria-keyshortcuts="w" onClick={() => onInbox(true)}>
          Waiting
          {waiting.count > 0 && <span className="badge">{waiting.count}</span>}
        </button>
      </div>
      {isInbox ? (
        <Inbox waiting={waiting} current={current} />
      ) : (
        <ul className="threads">
          {threads.map((thread) => (
            <ThreadRow
              key={thread.id}
              thread={thread}
              isCurrent={thread.id === current}
              isWaiting={waitingIds.has(thread.id)}
            />
          ))}
        </ul>
      )}
      <ErrorMessage text={error} />
      {!isInbox && threads.length === 0 && !isLoading && error === undefined && (
        <p className="empty">{search === '' ? 'Your threads appear here.' : 'No title contains these words.'}</p>
      )}
      {!isInbox && loadMore && (
        <Button variant="quiet" onClick={loadMore}>
          More
        </Button>
      )}
      {!isInbox && search.trim() !== '' && <MessageMatches search={search.trim()} current={message} />}
      <span className="grow" />
      <p className="server" role="status">
        <span className="dot" data-on={server !== undefined || undefined} />
        {server === undefined
          ? 'No server'
          : `${server.agents.length} ${server.agents.length === 1 ? 'agent' : 'agents'} · ${databases[server.database.kind]} · ${server.version}`}
      </p>
    </nav>
  );
}

const databases = { pglite: 'PGlite', postgres: 'Postgres' } as const;

function ThreadRow({
  thread,
  isCurrent,
  isWaiting,
}: {
  thread: ThreadInfo;
  isCurrent: boolean;
  /** Whether a question of the thread is open, or its last answer waits for a message. */
  isWaiting: boolean;
}): ReactNode {
  const getColor = useAgentColor();
  const [mode, setMode] = useState<'plain' | 'rename' | 'delete'>('plain');
  const title = thread.title ?? 'Untitled';
  const remove = async (): Promise<void> => {
    await api.deleteThread(thread.id);
    forgetSession(thread.id);
    if (isCurrent) navigate({ thread: undefined });
    notifyThreadsChanged();
  };
  if (mode === 'rename') return <Rename thread={thread} onDone={() => setMode('plain')} />;
  if (mode === 'delete') {
    return (
      <li className="thread confirm" role="group" aria-label={`Delete ${title}?`}>
        <span className="title">Delete this thread?</span>
        <Button variant="danger" autoFocus onClick={() => void remove()}>
          Delete
        </Button>
        <Button variant="quiet" onClick={() => setMode('plain')}>
          Cancel
        </Button>
      </li>
    );
  }
  return (
    <li className="thread" data-current={isCurrent || undefined}>
      <a
        href={`?thread=${encodeURIComponent(thread.id)}`}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          navigate({ thread: thread.id, view: 'chat' });
        }}
      >
        <span className="title" dir="auto">
          {title}
        </span>
        <span className="meta">
          {thread.agent !== undefined && (
            <span className="agent">
              <span className="dot" style={{ background: getColor(thread.agent) }} />
              {thread.agent}
            </span>
          )}
          {isWaiting && (
            <span className="waiting-mark" title="Waiting for you">
              waiting
            </span>
          )}
          <time dateTime={thread.updatedAt}>{formatDate(thread.updatedAt)}</time>
        </span>
      </a>
      <span className="row-actions">
        <IconButton icon="edit" label={`Rename ${title}`} onClick={() => setMode('rename')} />
        <IconButton icon="trash" label={`Delete ${title}`} onClick={() => setMode('delete')} />
      </span>
    </li>
  );
}

function Rename({ thread, onDone }: { thread: ThreadInfo; onDone: () => void }): ReactNode {
  const [title, setTitle] = useState(thread.title ?? '');
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (title.trim() !== '') await api.editThread(thread.id, { title: title.trim() });
    notifyThreadsChanged();
    onDone();
  };
  return (
    <li className="thread renaming">
      <form onSubmit={(event) => void save(event)}>
        <input
          className="field"
          autoFocus
          value={title}
          aria-label="Thread title"
          onChange={(event) => setTitle(event.target.value)}
          onBlur={onDone}
          onKeyDown={(event) => event.key === 'Escape' && onDone()}
        />
      </form>
    </li>
  );
}
