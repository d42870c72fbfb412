export type GenerateId = () => string;

export interface UuidV7Options {
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Fills the array with random bytes. */
  random?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

const COUNTER_LIMIT = 2 ** 18;
const HEX: string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * A generator of UUIDs version 7 (RFC 9562): ids that sort by the time they were made.
 * Strictly increasing inside one generator, also when the clock stands still or goes back: 18 bits after the time are a
 * counter that starts at a random value every millisecond (section 6.2, method 1). Where it overflows, the id's time runs
 * ahead of the clock. 56 bits of every id are random.
 */
export function createUuidV7({ now = Date.now, random = fillRandom }: UuidV7Options = {}): GenerateId {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  let time = -1;
  let counter = 0;
  return () => {
    random(bytes);
    const clock = Math.floor(now());
    counter += 1;
    if (clock > time || counter === COUNTER_LIMIT) {
      time = Math.max(clock, time + 1);
      // The upper half stays free to count.
      counter = view.getUint32(0) % (COUNTER_LIMIT / 2);
    }
    view.setUint16(0, Math.floor(time / 2 ** 32));
    view.setUint32(2, time % 2 ** 32);
    bytes[6] = 0x70 | (counter >>> 14);
    bytes[7] = counter >>> 6;
    bytes[8] = 0x80 | (counter & 0x3f);
    return format(bytes);
  };
}

/** The generator that is used where none is given. */
export const generateId: GenerateId = createUuidV7();

function fillRandom(bytes: Uint8Array<ArrayBuffer>): void {
  crypto.getRandomValues(bytes);
}

function format(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < 16; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += '-';
    text += HEX[bytes[index] as number];
  }
  return text;
}
