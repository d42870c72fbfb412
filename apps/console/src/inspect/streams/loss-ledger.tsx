import type { ReactNode } from 'react';
import { IconButton } from '../../ui/button.tsx';
import type { StreamTable } from './stream-table.ts';

/** What the target has no place for, or was not told, and why. */
export function LossLedger(props: {
  table: StreamTable;
  targetLabel: string;
  onEvent: (event: number) => void;
  onClose: () => void;
}): ReactNode {
  const { table, targetLabel, onEvent, onClose } = props;
  return (
    <section className="stream-details" aria-label="Loss ledger">
      <header>
        <h2>Loss ledger</h2>
        <span className="note">what {targetLabel} was not told</span>
        <span className="grow" />
        <IconButton icon="close" label="Close" keys="Esc" onClick={onClose} />
      </header>
      <div className="body">
        {table.losses.length === 0 ? (
          <p className="empty">Everything got through.</p>
        ) : (
          <table className="ledger">
            <thead>
              <tr>
                <th scope="col">Event</th>
                <th scope="col">Kind</th>
                <th scope="col">What</th>
                <th scope="col">Why</th>
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
