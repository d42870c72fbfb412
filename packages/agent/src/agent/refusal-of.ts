import { RunRefusedError, type Refused } from '@intertie/core';

export function refusalOf(refused: Refused): RunRefusedError {
  switch (refused.reason) {
    case 'busy':
    case 'queue-full':
      return new RunRefusedError({ code: refused.reason, live: refused.live });
    case 'pending':
      return new RunRefusedError({ code: 'pending', decisions: refused.decisions });
    case 'key-reused':
      return new RunRefusedError({ code: 'key-reused', run: refused.run });
    case 'run-exists':
      return new RunRefusedError({ code: 'run-exists', run: refused.run });
    case 'not-found':
      return new RunRefusedError({ code: 'not-found', what: refused.what });
  }
}
