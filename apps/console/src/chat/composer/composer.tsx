import type { FileUIPart } from 'ai';
import {
  useLayoutEffect,
  useRef,
  useState,
  type FormEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { FileView } from '../message/file-view.tsx';
import type { Draft } from '../session/thread-session.ts';
import { useAttachments } from './use-attachments.ts';

export type ComposerProps = {
  label: string;
  initial?: { text: string; files: FileUIPart[] };
  isBusy: boolean;
  /** Placeholder of the text field. */
  hint?: string;
  /** Label of the send button. Default: Send. */
  sendLabel?: string;
  /** Whether a message can be sent during a run: it answers a question of the run. */
  canSendWhileBusy?: boolean;
  onSend: (draft: Draft) => void;
  /** Keeps the message until the run has ended. */
  onQueue?: (draft: Draft) => void;
  /** Stops the run and sends the message. */
  onReplace?: (draft: Draft) => void;
  onStop?: () => void;
  /** Shows a cancel button, for editing an existing message. */
  onCancel?: () => void;
  /** Controls to the left of the buttons. */
  children?: ReactNode;
};

/** Time in milliseconds for which Stop ignores the pointer, because it appears where Send was. */
const stopGuardMs = 700;

/** Time of the last click on Send. Module state, since the first message of a thread replaces the composer. */
let lastSentAt = -stopGuardMs;

/** Text field and attachments for a message. Enter sends it, or queues it during a run. */
export function Composer(props: ComposerProps): ReactNode {
  const { label, initial, isBusy, hint = 'Ask something', onSend, onStop, onCancel, children } = props;
  const { sendLabel = 'Send', canSendWhileBusy = false, onQueue, onReplace } = props;
  const [text, setText] = useState(initial?.text ?? '');
  const form = useRef<HTMLFormElement>(null);
  const attachments = useAttachments(form, initial?.files);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const isEmpty = text.trim() === '' && attachments.files.length === 0;

  useLayoutEffect(() => {
    const area = field.current;
    if (area === null) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }, [text]);

  /** Ignores the second click of a double click on Send. Keyboard clicks have no `detail`. */
  const stop = (event: MouseEvent): void => {
    if (event.detail === 0 || performance.now() - lastSentAt > stopGuardMs) onStop?.();
  };

  const isQueueing = isBusy && !canSendWhileBusy;
  const pass = (deliver: ((draft: Draft) => void) | undefined): void => {
    if (isEmpty || deliver === undefined) return;
    deliver({ text, files: attachments.files });
    setText('');
    attachments.clear();
  };
  const send = (): void => pass(isQueueing ? onQueue : onSend);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isBusy) onStop?.();
    else if (event.key === 'Escape') onCancel?.();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (isQueueing && (event.ctrlKey || event.metaKey)) pass(onReplace);
    else send();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    lastSentAt = performance.now();
    send();
  };

  return (
    <form ref={form} className="composer" data-over={attachments.isOver || undefined} onSubmit={submit}>
      {attachments.files.length > 0 && (
        <ul className="files" aria-label="Files">
          {attachments.files.map((file, index) => (
            <li key={index}>
              <FileView
                url={file.url}
                mediaType={file.mediaType}
                {...(file.filename !== undefined && { filename: file.filename })}
              />
              <IconButton
                icon="close"
                label={`Remove ${file.filename ?? 'file'}`}
                onClick={() => attachments.remove(index)}
              />
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        rows={1}
        value={text}
        autoFocus={matchMedia('(pointer: fine)').matches}
        placeholder={hint}
        aria-label={label}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={attachments.onPaste}
      />
      <ErrorMessage text={attachments.problem} />
      <div className="composer-row">
        <IconButton icon="attach" label="Attach files" onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            attachments.add(event.target.files ?? []);
            event.target.value = '';
          }}
        />
        {children}
        <span className="composer-actions">
          {onCancel && (
            <Button variant="quiet" onClick={onCancel}>
              Cancel
            </Button>
          )}
          {isBusy && onStop && (
            <Button icon="stop" onClick={stop}>
              Stop
            </Button>
          )}
          {isQueueing && onQueue && !isEmpty && (
            <>
              <Button title="Stop the answer and send this message (Ctrl+Enter)" onClick={() => pass(onReplace)}>
                Replace
              </Button>
              <Button variant="primary" type="submit" title="Send this message after the answer (Enter)">
                Queue
              </Button>
            </>
          )}
          {!(isQueueing && onStop) && (
            <Button variant="primary" icon="arrowUp" type="submit" disabled={isEmpty || isQueueing}>
              {sendLabel}
            </Button>
          )}
        </span>
      </div>
    </form>
  );
}
