import type { ReactNode } from 'react';
import { IconButton } from '../../ui/button.tsx';
import type { StreamTable } from './stream-table.ts';

/** Table of the losses: information that the target protocol cannot carry or that was withheld, with the reason. */
export function LossReport(props: {
  table: StreamTable;
  targetLabel: string;
  onEvent: (event: number) => void;
  onClose: () => void;
}): ReactNode {
  const { table, targetLabel, onEvent, onClose } = props;
  return (
    <section className="stream-details" aria-label="Loss report">
      <header>
        <h2>Loss report</h2>
        <span className="note">not sent in {targetLabel}</span>
        <span className="grow" />
        <IconButton icon="close" label="Close" keys="Esc" onClick={onClose} />
      </header>
      <div className="body">
        {table.losses.length === 0 ? (
          <p className="empty">No losses.</p>
        ) : (
          <table className="losses">
            <thead>
              <tr>
                <th scope="col">Event</th>
                <th scope="col">Kind</th>
                <th scope="col">Item</th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {table.losses.map(({ loss, event }, index) => (
                <tr key={index}>
                  <td>
                    <button type="button" className="link" onClick={() => onEvent(event)}>
                      {event + 1}
                    </button>
                  </td>
                  <td>{loss.kind}</td>
                  <td>
                    <code>{loss.what}</code>
                  </td>
                  <td>{loss.why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}
