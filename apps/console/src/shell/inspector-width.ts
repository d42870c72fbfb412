/** All six tabs are visible from this width on. */
const minWidth = 440;
const defaultWidth = 600;
/** Minimum and comfortable width of the thread list and the chat together. */
const minRest = 580;
const comfortableRest = 740;

/** Computes the inspector's width: the chosen one, or the default if that leaves enough for the other columns. */
export function computeInspectorWidth(
  windowWidth: number,
  chosen: number | undefined,
): { width: number; min: number; max: number } {
  const max = Math.max(minWidth, windowWidth - minRest);
  const wanted = chosen ?? Math.max(minWidth, Math.min(defaultWidth, windowWidth - comfortableRest));
  return { width: Math.min(wanted, max), min: minWidth, max };
}
