import { isToolUIPart, type UIMessage } from 'ai';
import type { CSSProperties, ReactNode } from 'react';
import { getAgentId, getAgents, type Agent } from './agents.ts';
import { RichText } from './rich-text.tsx';
import { ToolCard, type Answer } from './tool-card.tsx';

type Part = UIMessage['parts'][number];

export function Message({ message, onAnswer }: { message: UIMessage; onAnswer: Answer }): ReactNode {
  if (message.role === 'user') {
    return (
      <article className="user" aria-label="You">
        {message.parts.map((part, index) => (part.type === 'text' ? <p key={index}>{part.text}</p> : undefined))}
      </article>
    );
  }
  const agents = getAgents(message.parts);
  return (
    <article className="assistant" aria-label="Answer">
      {groupByAgent(message.parts).map(({ agentId, parts }, index) => (
        <AgentSection key={index} agent={agentId === undefined ? undefined : agents.get(agentId)}>
          {parts.map((part, place) => (
            <PartView key={place} part={part} onAnswer={onAnswer} />
          ))}
        </AgentSection>
      ))}
    </article>
  );
}

type PartGroup = { agentId: string | undefined; parts: Part[] };

/** Groups consecutive parts of one agent. */
function groupByAgent(parts: readonly Part[]): PartGroup[] {
  const groups: PartGroup[] = [];
  for (const part of parts) {
    const isShown = part.type === 'text' || part.type === 'reasoning' || isToolUIPart(part);
    if (!isShown) continue;
    const agentId = getAgentId(part);
    const last = groups.at(-1);
    if (last?.agentId === agentId && last !== undefined) last.parts.push(part);
    else groups.push({ agentId, parts: [part] });
  }
  return groups;
}

function AgentSection({ agent, children }: { agent: Agent | undefined; children: ReactNode }): ReactNode {
  const style = { '--agent': `var(--agent-${agent?.colour ?? 0})` } as CSSProperties;
  return (
    <section className="turn" style={style}>
      {agent && <h2>{agent.name}</h2>}
      {children}
    </section>
  );
}

function PartView({ part, onAnswer }: { part: Part; onAnswer: Answer }): ReactNode {
  if (isToolUIPart(part)) return <ToolCard part={part} onAnswer={onAnswer} />;
  switch (part.type) {
    case 'text':
      return (
        <div className={part.state === 'streaming' ? 'text streaming' : 'text'}>
          <RichText text={part.text} />
        </div>
      );
    case 'reasoning':
      return (
        <details className="reasoning" open={part.state === 'streaming'}>
          <summary>{part.state === 'streaming' ? 'Thinking…' : 'Thought'}</summary>
          <p>{part.text}</p>
        </details>
      );
    default:
      return undefined;
  }
}
