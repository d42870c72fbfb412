import { useChat } from '@ai-sdk/react';
import { OpenHarnessChatTransport, type OpenHarnessUIMessage } from '@intertie/open-harness';
import { demoRuntime } from '@intertie/open-harness/demo';
import type { FormEvent, ReactNode } from 'react';

// One runtime per message. The demo runtime also runs in a browser; a real one runs on a server, behind createChatHandler.
const transport = new OpenHarnessChatTransport(demoRuntime, { sendFlowMetadata: true });

export function ChatPage(): ReactNode {
  const { messages, sendMessage, status, stop, error } = useChat<OpenHarnessUIMessage>({ transport });
  const isBusy = status === 'submitted' || status === 'streaming';
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get('text');
    if (isBusy || typeof text !== 'string' || text.trim() === '') return;
    event.currentTarget.reset();
    void sendMessage({ text });
  };
  return (
    <main aria-live="polite" aria-busy={isBusy}>
      <h1>A flow behind useChat</h1>
      {messages.map(({ id, role, parts }) => (
        <article key={id}>
          <strong>{role === 'user' ? 'You' : 'Newsroom'}</strong>
          {parts.map((part, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- parts are only ever added at the end
            <Part key={index} part={part} />
          ))}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" placeholder="A topic, and then yes or what to change" size={40} />{' '}
        <button type="submit" disabled={isBusy}>
          Send
        </button>{' '}
        <button type="button" disabled={!isBusy} onClick={() => void stop()}>
          Stop
        </button>
      </form>
    </main>
  );
}

function Part({ part }: { part: OpenHarnessUIMessage['parts'][number] }): ReactNode {
  switch (part.type) {
    case 'text':
      return <p style={{ whiteSpace: 'pre-wrap' }}>{part.text}</p>;
    case 'reasoning':
      return <p style={{ opacity: 0.6, fontStyle: 'italic' }}>{part.text}</p>;
    case 'dynamic-tool':
      return (
        <p>
          <code>
            {part.toolName}({JSON.stringify(part.input)}) {part.state === 'output-available' ? '✓' : '…'}
          </code>
        </p>
      );
    case 'data-flow-status':
      return <small> · the flow is {part.data.status}</small>;
    case 'data-agent':
      return <h2 style={{ fontSize: '1rem', borderTop: '1px solid', paddingTop: '0.5rem' }}>{part.data.name}</h2>;
    default:
      return null;
  }
}
