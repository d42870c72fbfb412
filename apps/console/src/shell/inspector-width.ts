const narrowest = 320;
const comfortable = 600;
/** What the threads and the chat need beside it: at all, and to be at ease. */
const restNeeds = 560;
const restLikes = 740;

/** How wide the inspector is in a window: as somebody chose, or wide enough for three columns where the chat has room too. */
export function inspectorWidth(room: number, chosen: number | undefined): { width: number; min: number; max: number } {
  const max = Math.max(narrowest, room - restNeeds);
  const wanted = chosen ?? Math.max(narrowest, Math.min(comfortable, room - restLikes));
  return { width: Math.min(wanted, max), min: narrowest, max };
}
