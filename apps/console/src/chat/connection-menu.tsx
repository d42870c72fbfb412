import { useState, type ReactNode } from 'react';
import { api, formatError } from '../api.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Popover } from '../ui/popover.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { describeConnectionLog, type ConnectionLogEntry } from './session/connection-log.ts';

/** Injects connection faults into a thread, to show that no event is lost. Available if the server listens on loopback. */
export function ConnectionMenu({ threadId, log }: { threadId: string; log: readonly ConnectionLogEntry[] }): ReactNode {
  const [problem, setProblem] = useState<string>();
  const inject = (fault: { cut?: true; delayMs?: number; duplicate?: true }): void => {
    setProblem(undefined);
    api.injectFault({ ...fault, thread: threadId }).catch((error: unknown) => setProblem(formatError(error)));
  };
  const shown = log.slice(-8);
  const lines = describeConnectionLog(log).slice(-8);
  return (
    <Popover
      label="Connection faults"
      trigger={(props) => <IconButton icon="wire" label="Connection faults" {...props} />}
    >
      <h2>Connection faults</h2>
      <p className="hint">
        Disturb the connection while an answer streams. The run continues, and missed events are sent on reconnect.
      </p>
      <div className="row">
        <Button icon="cut" title="Breaks the connection once" onClick={() => inject({ cut: true })}>
          Cut
        </Button>
        <Button title="Delivers every event 400 ms later" onClick={() => inject({ delayMs: 400 })}>
          Delay 400 ms
        </Button>
        <Button title="Delivers events twice" onClick={() => inject({ duplicate: true })}>
          Duplicate
        </Button>
        <Button variant="quiet" title="Ends all faults" onClick={() => inject({ delayMs: 0 })}>
          Reset
        </Button>
      </div>
      <ErrorMessage text={problem} />
      <ol className="connection-log" aria-label="Connection log" aria-live="polite">
        {shown.map((entry, index) => (
          <li key={`${entry.at}-${index}`} data-type={entry.type}>
            <time>{new Date(entry.at).toLocaleTimeString()}</time> {lines[index]}
          </li>
        ))}
        {shown.length === 0 && <li>No answer has streamed yet.</li>}
      </ol>
    </Popover>
  );
}
