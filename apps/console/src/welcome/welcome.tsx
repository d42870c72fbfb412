import { useState, useSyncExternalStore, type CSSProperties, type ReactNode } from 'react';
import type { ServerInfo } from '../api.ts';
import { AgentPicker, getDefaultAgent } from '../chat/agent-picker.tsx';
import { Composer } from '../chat/composer.tsx';
import { MessageView } from '../chat/message-view.tsx';
import type { Draft } from '../chat/thread-session.ts';
import { useFoldedRun } from '../chat/use-folded-run.ts';
import type { RunEvents } from '../inspect-types.ts';
import { Icon } from '../ui/icon.tsx';
import { useAgentColor } from '../use-agent-color.ts';
import { thingsToTry } from './things-to-try.ts';

/** What a page shows that nobody has asked anything yet: a run that was recorded, and what to try. */
export function Welcome({
  server,
  error,
  events,
  prompt,
  scrub,
  isInternalShown,
  onBegin,
}: {
  server: ServerInfo | undefined;
  error: string | undefined;
  events: RunEvents;
  prompt: string;
  scrub: number | undefined;
  isInternalShown: boolean;
  onBegin: (agent: string | undefined, draft: Draft) => void;
}): ReactNode {
  const getColor = useAgentColor();
  const agents = server?.agents ?? [];
  const [chosen, setChosen] = useState<string>();
  const agent = chosen ?? getDefaultAgent(agents)?.name;
  const { entries, status } = useSyncExternalStore(events.subscribe, events.snapshot);
  const message = useFoldedRun(entries, { count: scrub, includeInternal: isInternalShown });
  const tries = thingsToTry(agents);
  return (
    <>
      <div className="scroller" tabIndex={-1}>
        <div className="messages welcome">
          <header>
            <h2>Connect any agent to any chat.</h2>
            <p>
              Below, a recorded run, told in every protocol at once. Ask something to start one of your own; it is kept,
              and goes on through reloads, other tabs and cut connections.
            </p>
          </header>
          {error !== undefined && (
            <p className="failure" role="alert">
              {error}
            </p>
          )}
          {tries.length > 0 && (
            <section aria-label="Three things to try" className="tries">
              {tries.map(({ agent: name, text, why }) => (
                <button
                  key={name + text}
                  type="button"
                  className="try"
                  style={{ '--agent': getColor(name) } as CSSProperties}
                  onClick={() => onBegin(name, { text, files: [] })}
                >
                  <span className="text">{text}</span>
                  <span className="why">
                    <span className="dot" />
                    <b>{name}</b> {why}
                  </span>
                </button>
              ))}
            </section>
          )}
          <section className="recording" aria-label="A recorded run">
            <p className="recording-mark">
              <Icon name="focus" size={13} /> Recording
            </p>
            <article className="message user" aria-label="Somebody">
              <div className="bubble">
                <p>{prompt}</p>
              </div>
            </article>
            {message && <MessageView message={message} isLive={status === 'live' && scrub === undefined} />}
          </section>
        </div>
      </div>
      <footer className="foot">
        <Composer label="Your message" isBusy={false} onSend={(draft) => onBegin(agent, draft)}>
          <AgentPicker agents={agents} agent={agent} onChoose={setChosen} />
        </Composer>
      </footer>
    </>
  );
}
