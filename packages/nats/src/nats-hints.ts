import type { Hint, Hints } from '@intertie/core/store';
import type { NatsConnection } from '@nats-io/transport-node';

export type NatsHintsOptions = {
  /** Subject of the hints. Default: `intertie-hints`. */
  subject?: string;
};

/** Creates a bus for hints on core NATS, which may lose them while a server is away. Closing the connection ends it. */
export function createNatsHints(connection: NatsConnection, options: NatsHintsOptions = {}): Hints {
  const { subject = 'intertie-hints' } = options;
  let isConnected = !connection.isClosed();
  const watchStatus = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') isConnected = false;
      if (type === 'reconnect') isConnected = true;
    }
    isConnected = false;
  };
  void watchStatus();

  return {
    publish(hint) {
      // A hint that cannot be sent now is lost. Buffering it for later would only wake readers that poll anyway.
      if (isConnected && !connection.isClosed()) connection.publish(subject, JSON.stringify(hint));
    },
    subscribe(listener) {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          const hint = error ? undefined : readHint(message.string());
          if (hint) listener(hint);
        },
      });
      return () => subscription.unsubscribe();
    },
    isConnected: () => isConnected && !connection.isClosed(),
  };
}

/** Reads a hint. Undefined for messages of other programs on the subject. */
function readHint(text: string): Hint | undefined {
  try {
    const hint = JSON.parse(text) as Hint | null;
    return typeof hint?.type === 'string' ? hint : undefined;
  } catch {
    return undefined;
  }
}
