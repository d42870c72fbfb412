import { AGUI_MEDIA_TYPE, encode } from '@ag-ui/proto';
import { toJson } from '@intertie/core/internal';
import type { AGUIBinary } from './ag-ui-binary.ts';

/**
 * The events of AG-UI as protobuf, for a client that asks for them by name:
 * `createAGUIHandler(source, { protobuf })`. Needs `@ag-ui/proto`.
 */
export const protobuf: AGUIBinary = {
  mediaType: AGUI_MEDIA_TYPE,
  frame(event) {
    // What JSON cannot say is left out here as it is there.
    const bytes = encode(toJson(event) as unknown as Parameters<typeof encode>[0]);
    const frame = new Uint8Array(4 + bytes.length);
    new DataView(frame.buffer).setUint32(0, bytes.length);
    frame.set(bytes, 4);
    return frame;
  },
};
