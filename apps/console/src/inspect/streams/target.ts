import type { Protocol } from '@intertie/core';
import { useEffect, useState } from 'react';
import { defaultFormat, otherFormats } from '../../protocols.ts';

/** Format, in one of its versions, that the console encodes canonical events to. */
export type Target = { id: string; label: string; load: () => Promise<Protocol> };

const [, ...otherVersions] = defaultFormat.variants?.names ?? [];

/** Targets of the menu: the default, its other versions, and the other formats. */
export const targets: readonly Target[] = [
  { id: defaultFormat.name, label: defaultFormat.label, load: async () => defaultFormat },
  ...otherVersions.map((version) => {
    const format = defaultFormat.variants!.create(version);
    return { id: `${defaultFormat.name}:${version}`, label: format.label, load: async () => format };
  }),
  ...otherFormats.map(({ name, label, load }) => ({ id: name, label, load })),
];

/** Returns the format of a target; the default one until it is loaded. */
export function useTargetFormat(targetId: string): Protocol {
  const [loaded, setLoaded] = useState({ id: defaultFormat.name, format: defaultFormat });
  useEffect(() => {
    let isCurrent = true;
    const { id, load } = targets.find((target) => target.id === targetId) ?? targets[0]!;
    void load().then((format) => isCurrent && setLoaded({ id, format }));
    return () => void (isCurrent = false);
  }, [targetId]);
  return loaded.format;
}
