import { useChat } from '@ai-sdk/react';
import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai';
import type { FormEvent, ReactNode } from 'react';

export function ChatPage(): ReactNode {
  const { messages, sendMessage, addToolOutput, status, stop, error } = useChat({
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  });
  const isBusy = status === 'submitted' || status === 'streaming';
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get('text');
    if (isBusy || typeof text !== 'string' || text.trim() === '') return;
    event.currentTarget.reset();
    void sendMessage({ text });
  };
  const answer = (toolCallId: string, output: string): void =>
    void addToolOutput({ tool: 'ask_user' as never, toolCallId, output });
  return (
    <main aria-live="polite" aria-busy={isBusy}>
      <h1>A chat with a swarm</h1>
      {messages.map((message) => (
        <article key={message.id}>
          <strong>{message.role === 'user' ? 'You' : 'The swarm'}</strong>
          <Parts message={message} onAnswer={answer} />
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" placeholder="A question, or: plan a trip" size={40} />{' '}
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

type OnAnswer = (toolCallId: string, output: string) => void;

function Parts({ message, onAnswer }: { message: UIMessage; onAnswer: OnAnswer }): ReactNode {
  const names = getAgentNames(message);
  return message.parts.map((part, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- parts are only ever added at the end
    <Part key={index} part={part} agent={names.get(getAgentId(part) ?? '')} onAnswer={onAnswer} />
  ));
}

/** Collects the names of the agents by id. A `data-agent` part introduces each agent, and its other parts refer to the id. */
function getAgentNames({ parts }: UIMessage): Map<string, string> {
  const agents = parts.flatMap((part) => (part.type === 'data-agent' ? [part.data as Agent] : []));
  return new Map(agents.map(({ agentId, name }) => [agentId, name]));
}
type Agent = { agentId: string; name: string };
type PartMetadata = { providerMetadata?: Meta; callProviderMetadata?: Meta };
type Meta = { intertie?: { agentId?: string } };

function getAgentId(part: object): string | undefined {
  const { providerMetadata, callProviderMetadata } = part as PartMetadata;
  return (providerMetadata ?? callProviderMetadata)?.intertie?.agentId;
}

type PartProps = { part: UIMessage['parts'][number]; agent: string | undefined; onAnswer: OnAnswer };

function Part({ part, agent, onAnswer }: PartProps): ReactNode {
  switch (part.type) {
    case 'text':
      return <p style={{ whiteSpace: 'pre-wrap' }}>{part.text}</p>;
    case 'reasoning':
      return (
        <details open style={{ opacity: 0.7, fontStyle: 'italic' }}>
          <summary>{agent ?? 'An agent'} thinks</summary>
          {part.text}
        </details>
      );
    case 'dynamic-tool':
      return (
        <p>
          <small>
            {agent} uses {part.toolName}{' '}
            {part.state === 'output-available' ? '✓' : part.state === 'output-error' ? '✗' : '…'}
          </small>
        </p>
      );
    case 'tool-ask_user': {
      const { question } = part.input as { question: string };
      if (part.state !== 'input-available') return <p>{question}</p>;
      return (
        <p>
          {question}{' '}
          {['time', 'money', 'comfort'].map((choice) => (
            <button key={choice} type="button" onClick={() => onAnswer(part.toolCallId, choice)}>
              {choice}
            </button>
          ))}
        </p>
      );
    }
    default:
      return null;
  }
}
