import { capPath } from './cap-path.ts';

export type MessageFormatErrorCode =
  /** A field is missing or has the wrong shape. */
  | 'invalid'
  /** Written by a newer version of Intertie. */
  | 'newer-format'
  /** Written in an older format without an upgrade. */
  | 'older-format';

/** Thrown for a value that is not a valid message. `path` is the place, such as `content.parts[2].text`. */
export class MessageFormatError extends Error {
  override readonly name = 'MessageFormatError';
  readonly code: MessageFormatErrorCode;
  readonly path: string;

  constructor(code: MessageFormatErrorCode, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = capPath(path);
  }
}
