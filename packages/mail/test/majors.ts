import * as ai6 from 'ai';
import * as ai7 from 'ai-7';

/** Both majors of the SDK, typed as version 6. */
export const majors: Array<[major: string, sdk: typeof ai6]> = [
  ['6', ai6],
  ['7', ai7 as unknown as typeof ai6],
];
