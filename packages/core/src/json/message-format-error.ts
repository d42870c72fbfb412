import { capPath } from './cap-path.ts';

export type MessageFormatErrorCode =
  /** A field is missing or has the wrong shape. */
  | 'invalid'
  /** Written by a newer version of Intertie. */
  | 'newer-format'
  /** Written in a format that no upgrade leads out of. */
  | 'older-format';

/** Why a value is no message: `path` is the place, as in `content.parts[2].text`, and the text says what to do. */
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
