import { AGUI_MEDIA_TYPE, encode } from '@ag-ui/proto';
import { toJson } from '@intertie/core';
import type { AGUIBinary } from './ag-ui-binary.ts';

/**
 * Protobuf encoding for clients that request it: `createAGUIHandler(source, { protobuf })`. Requires `@ag-ui/proto`.
 */
export const protobuf: AGUIBinary = {
  mediaType: AGUI_MEDIA_TYPE,
  frame(event) {
    // Removes values that JSON cannot represent, like the text encoding does.
    const bytes = encode(toJson(event) as unknown as Parameters<typeof encode>[0]);
    const frame = new Uint8Array(4 + bytes.length);
    new DataView(frame.buffer).setUint32(0, bytes.length);
    frame.set(bytes, 4);
    return frame;
  },
};
