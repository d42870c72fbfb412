import { useChat } from '@ai-sdk/react';
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react';
import { readMessages, storeMessages } from './stored-messages.ts';
import { Message } from './message.tsx';

const suggestions = ['Why is our build so slow?', 'Who are you?'];

/** A plain `useChat()`: its default transport posts to `/api/chat`. */
export function ChatPage(): ReactNode {
  const [stored] = useState(readMessages);
  const chat = useChat({
    messages: stored,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const { messages, status, error } = chat;
  const isBusy = status === 'submitted' || status === 'streaming';
  const end = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);

  useEffect(() => storeMessages(messages), [messages]);
  useEffect(() => {
    // Returns nothing: some browsers return a promise, which is not a cleanup function.
    end.current?.scrollIntoView({ block: 'end' });
  }, [messages, status]);

  const send = (text: string): void => {
    if (text.trim() === '' || isBusy) return;
    if (field.current) field.current.value = '';
    void chat.sendMessage({ text });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isBusy) void chat.stop();
  };
  const startNewChat = (): void => {
    void chat.stop();
    chat.setMessages([]);
    field.current?.focus();
  };

  return (
    <div className="page" onKeyDown={onKeyDown}>
      <header className="bar">
        <h1>Intertie</h1>
        <p>useChat over a scripted source</p>
        <button type="button" onClick={startNewChat} disabled={messages.length === 0}>
          New chat
        </button>
      </header>
      <main aria-live="polite" aria-busy={isBusy}>
        {messages.length === 0 && <Welcome onPick={send} />}
        {messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            onAnswer={(answer) => void chat.addToolApprovalResponse(answer)}
          />
        ))}
        {status === 'submitted' && <p className="waiting">…</p>}
        {error && (
          <p className="error" role="alert">
            {error.message}{' '}
            <button type="button" onClick={() => void chat.regenerate()}>
              Try again
            </button>
          </p>
        )}
        <div ref={end} />
      </main>
      <Composer field={field} isBusy={isBusy} onSend={send} onStop={() => void chat.stop()} />
    </div>
  );
}

function Welcome({ onPick }: { onPick: (text: string) => void }): ReactNode {
  return (
    <section className="welcome">
      <p>Three agents, a tool that asks before it runs, and no key. Ask:</p>
      {suggestions.map((text) => (
        <button key={text} type="button" onClick={() => onPick(text)}>
          {text}
        </button>
      ))}
    </section>
  );
}

type ComposerProps = {
  field: React.RefObject<HTMLTextAreaElement | null>;
  isBusy: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
};

function Composer({ field, isBusy, onSend, onStop }: ComposerProps): ReactNode {
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSend(field.current?.value ?? '');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend(field.current?.value ?? '');
  };
  return (
    <form className="composer" onSubmit={submit}>
      <textarea
        ref={field}
        rows={1}
        autoFocus
        placeholder="Ask something"
        aria-label="Your message"
        onKeyDown={onKeyDown}
      />
      {isBusy ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="primary">
          Send
        </button>
      )}
    </form>
  );
}
