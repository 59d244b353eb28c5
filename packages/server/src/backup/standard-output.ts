import { fsyncSync } from 'node:fs';
import { StartError } from '../lib/start-error.ts';
import { explain } from './new-file.ts';
import type { BackupStream } from './take.ts';

/** Standard output, for another program or a file. */
export function standardOutput(): BackupStream {
  const output = process.stdout;
  if (output.isTTY === true)
    throw new StartError(
      'a backup cannot be written to a terminal: name a file, or pipe it to a program (custos backup - | …)',
    );
  // Each write has its own answer.
  output.on('error', () => {});
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        output.write(bytes, (error) => (error ? reject(refusal(error)) : resolve()));
      }),
    end: async () => {
      try {
        fsyncSync(output.fd);
      } catch (error) {
        // A pipe has nothing to sync, and what is behind it is not known here.
        if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw refusal(error as Error);
      }
    },
  };
}

function refusal(error: NodeJS.ErrnoException): unknown {
  if (error.code !== 'EPIPE') return explain('standard output', error);
  return new StartError('the program that reads the backup ended before the backup was complete: nothing was recorded');
}
