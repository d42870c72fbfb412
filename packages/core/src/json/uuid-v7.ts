/** Returns a new unique id. */
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
 * Creates a generator of version 7 UUIDs (RFC 9562), which sort by creation time.
 * Strictly increasing per generator, even if the clock stands still or goes back: 18 bits after the time are a counter that starts
 * at a random value every millisecond (section 6.2, method 1). If it overflows, the time in the id runs ahead of the clock. 56
 * bits of every id are random.
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
      // Starts in the lower half, so that at least half of the range is left for counting.
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

/** Default id generator. */
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
