import { useChat, type Chat } from '@ai-sdk/react';
import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { isBusy, refreshChat } from './load-chat.ts';

export function ChatPage({ chat }: { chat: Chat<UIMessage> }): ReactNode {
  // `resume` continues an answer that is being written, for example after a reload.
  const { messages, sendMessage, addToolApprovalResponse, stop, error } = useChat({ chat, resume: true });
  const isRefreshing = useRefreshOnFocus(chat);
  const [text, setText] = useState('');
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (isBusy(chat) || text.trim() === '') return;
    setText('');
    void sendMessage({ text });
  };
  return (
    <main aria-live="polite" aria-busy={isBusy(chat)}>
      <header>
        <h1>my-chat</h1>
        <a href={`#${crypto.randomUUID()}`}>New chat</a>
      </header>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} onAnswer={(id, approved) => void addToolApprovalResponse({ id, approved })} />
          ))}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input
          aria-label="Message"
          placeholder="Write a message"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        {isBusy(chat) ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button type="submit" disabled={isRefreshing}>
            Send
          </button>
        )}
      </form>
    </main>
  );
}

/** Refreshes the chat when the tab gets the focus. Returns whether a refresh is under way. */
function useRefreshOnFocus(chat: Chat<UIMessage>): boolean {
  const [isRefreshing, setIsRefreshing] = useState(false);
  useEffect(() => {
    let isRunning = false;
    const onFocus = async (): Promise<void> => {
      if (isRunning || document.hidden || isBusy(chat)) return;
      setIsRefreshing((isRunning = true));
      await refreshChat(chat).catch(() => {}); // Without a connection, the next focus tries again.
      setIsRefreshing((isRunning = false));
    };
    window.addEventListener('focus', onFocus);
    document.addEventListener('visibilitychange', onFocus);
    return () => {
      window.removeEventListener('focus', onFocus);
      document.removeEventListener('visibilitychange', onFocus);
    };
  }, [chat]);
  return isRefreshing;
}

type PartProps = { part: UIMessage['parts'][number]; onAnswer: (id: string, approved: boolean) => void };

function Part({ part, onAnswer }: PartProps): ReactNode {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'reasoning') return <p className="reasoning">{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  return (
    <section aria-label={`Tool ${getToolName(part)}`}>
      <code>
        {getToolName(part)}({JSON.stringify(part.input)})
      </code>
      {part.state === 'approval-requested' && (
        <p>
          <button type="button" onClick={() => onAnswer(part.approval.id, true)}>
            Allow
          </button>
          <button type="button" onClick={() => onAnswer(part.approval.id, false)}>
            Deny
          </button>
        </p>
      )}
      {part.state === 'output-available' && <code>→ {JSON.stringify(part.output)}</code>}
      {part.state === 'output-error' && <p role="alert">{part.errorText}</p>}
      {/* A question that a new message has ended is stored as answered with no. */}
      {(part.state === 'output-denied' || part.approval?.approved === false) && <p>Denied.</p>}
    </section>
  );
}
