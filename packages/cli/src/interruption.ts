import { constants } from 'node:os';

/** What a person or the system ends a command with: Ctrl-C, `kill`, and a terminal or connection that is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Interruption = (typeof SIGNALS)[number];

/** Calls once what a command does when it is interrupted, instead of ending it at once; a second signal of the kind ends it. */
export function whenInterrupted(act: (signal: Interruption) => void): void {
  // A terminal that was closed takes no more lines, which must not end what is done about it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  for (const signal of SIGNALS) process.once(signal, () => act(signal));
}

/** Removes what a command has made so far when it is interrupted, and ends it. */
export function removeWhenInterrupted(remove: () => Promise<void>): void {
  whenInterrupted((signal) => {
    void remove()
      .catch((error: unknown) =>
        process.stderr.write(`custos: what was loaded could not be removed: ${String(error)}\n`),
      )
      .finally(() => process.exit(128 + constants.signals[signal]));
  });
}
