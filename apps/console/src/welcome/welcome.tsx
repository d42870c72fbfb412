import { use, useState, useSyncExternalStore, type CSSProperties, type ReactNode } from 'react';
import type { ServerInfo } from '../api.ts';
import { AgentPicker, getDefaultAgent } from '../agents/agent-picker.tsx';
import { Composer } from '../chat/composer/composer.tsx';
import { MessageView } from '../chat/message/message-view.tsx';
import type { Draft } from '../chat/session/thread-session.ts';
import { useFoldedRun } from '../run/use-folded-run.ts';
import type { RunEvents } from '../inspect-types.ts';
import { Icon } from '../ui/icon.tsx';
import { ServerListsContext } from '../server-lists.ts';
import { useAgentColor } from '../agents/use-agent-color.ts';
import { collectSuggestions } from './collect-suggestions.ts';

/** Chat column of the welcome screen: suggestions, a recorded run and the composer. */
export function Welcome({
  server,
  error,
  events,
  prompt,
  scrub,
  isInternalShown,
  onStart,
}: {
  server: ServerInfo | undefined;
  error: string | undefined;
  events: RunEvents;
  prompt: string;
  scrub: number | undefined;
  isInternalShown: boolean;
  onStart: (agent: string | undefined, draft: Draft) => void;
}): ReactNode {
  const getColor = useAgentColor();
  const { getKind } = use(ServerListsContext);
  const agents = server?.agents ?? [];
  const [chosen, setChosen] = useState<string>();
  const agent = chosen ?? getDefaultAgent(agents)?.name;
  const { entries, status } = useSyncExternalStore(events.subscribe, events.snapshot);
  const message = useFoldedRun(entries, { count: scrub, includeInternal: isInternalShown });
  const suggestions = collectSuggestions(agents, getKind);
  return (
    <>
      <div className="scroller" tabIndex={-1}>
        <div className="messages welcome">
          <header>
            <h2>Connect any agent to any chat.</h2>
            <p>
              Below is a recorded run. Ask something to start your own. Runs are stored, and continue through reloads,
              other tabs and interrupted connections.
            </p>
          </header>
          {error !== undefined && (
            <p className="failure" role="alert">
              {error}
            </p>
          )}
          {suggestions.length > 0 && (
            <section aria-label="Suggestions" className="suggestions">
              {suggestions.map(({ agent: name, text, description }) => (
                <button
                  key={name + text}
                  type="button"
                  className="suggestion"
                  style={{ '--agent': getColor(name) } as CSSProperties}
                  onClick={() => onStart(name, { text, files: [] })}
                >
                  <span className="text">{text}</span>
                  <span className="description">
                    <span className="dot" />
                    <b>{name}</b> {description}
                  </span>
                </button>
              ))}
            </section>
          )}
          <section className="recording" aria-label="Recorded run">
            <p className="recording-mark">
              <Icon name="focus" size={13} /> Recording
            </p>
            <article className="message user" aria-label="User">
              <div className="bubble">
                <p>{prompt}</p>
              </div>
            </article>
            {message && <MessageView message={message} isLive={status === 'live' && scrub === undefined} />}
          </section>
        </div>
      </div>
      <footer className="foot">
        <Composer label="Your message" isBusy={false} onSend={(draft) => onStart(agent, draft)}>
          <AgentPicker agents={agents} agent={agent} onChoose={setChosen} />
        </Composer>
      </footer>
    </>
  );
}
