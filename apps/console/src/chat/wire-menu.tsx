import { useState, type ReactNode } from 'react';
import { api, messageOf } from '../api.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Popover } from '../ui/popover.tsx';
import { Problem } from '../ui/problem.tsx';
import { describeWire, type WireNote } from './wire-log.ts';

/** Cuts, slows or doubles the connection of a thread, to see that nothing is lost. Only a server on this machine does it. */
export function WireMenu({ threadId, notes }: { threadId: string; notes: readonly WireNote[] }): ReactNode {
  const [problem, setProblem] = useState<string>();
  const disturb = (fault: { cut?: true; delayMs?: number; duplicate?: true }): void => {
    setProblem(undefined);
    api.disturbWire({ ...fault, thread: threadId }).catch((error: unknown) => setProblem(messageOf(error)));
  };
  const shown = notes.slice(-8);
  const lines = describeWire(notes).slice(-8);
  return (
    <Popover label="Cut the wire" trigger={(props) => <IconButton icon="wire" label="The wire" {...props} />}>
      <h2>The wire</h2>
      <p className="hint">
        Disturb the connection while an answer comes. The run goes on, and what was missed is told.
      </p>
      <div className="row">
        <Button icon="cut" onClick={() => disturb({ cut: true })}>
          Cut
        </Button>
        <Button onClick={() => disturb({ delayMs: 400 })}>Delay 400 ms</Button>
        <Button onClick={() => disturb({ duplicate: true })}>Duplicate</Button>
        <Button look="quiet" onClick={() => disturb({ delayMs: 0 })}>
          Reset
        </Button>
      </div>
      <Problem text={problem} />
      <ol className="wire-log" aria-label="What happened on the wire" aria-live="polite">
        {shown.map((note, index) => (
          <li key={`${note.at}-${index}`} data-type={note.type}>
            <time>{new Date(note.at).toLocaleTimeString()}</time> {lines[index]}
          </li>
        ))}
        {shown.length === 0 && <li>No answer has come on it yet.</li>}
      </ol>
    </Popover>
  );
}
