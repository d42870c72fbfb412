import { useEffect, useRef, type ReactNode } from 'react';
import { IconButton } from '../ui/button.tsx';

const keys: ReadonlyArray<[string, string]> = [
  ['j  k', 'Next and previous message; in the inspector, rows'],
  ['/', 'Search titles and messages; in the inspector, filter'],
  ['e', 'In Streams, show the events of a part or fold them'],
  ['w', 'Show what waits for you'],
  ['f', 'Scroll to the end and follow it'],
  ['n', 'New thread'],
  ['c', 'Write a message'],
  ['i', 'Open or close the inspector'],
  ['v', 'Show messages between agents'],
  ['1 – 6', 'Streams, Topology, Timeline, Tree, Tape, Prompts'],
  ['Enter', 'Send; during an answer, queue'],
  ['Ctrl+Enter', 'During an answer, replace it'],
  ['Esc', 'Stop the answer; leave a field'],
  ['?', 'Show this help'],
];

export function ShortcutsHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} className="help" aria-label="Keyboard shortcuts" onClose={onClose}>
      <header>
        <h2>Keyboard shortcuts</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      <dl>
        {keys.map(([key, description]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
