import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { CustosError } from '@custos/sdk';

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
}

/**
 * Asks before something is changed. Without a terminal nobody can answer, and a script that means it passes `--yes`:
 * both are known before anything else happens.
 */
export function confirmation(
  { yes, dryRun = false }: { readonly yes: boolean; readonly dryRun?: boolean },
  what: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): (question: string) => Promise<boolean> {
  const isTerminal = input.isTTY === true && output.isTTY === true;
  if (!yes && !dryRun && !isTerminal) {
    throw new CustosError(
      'INVALID_OPTION',
      `${what}: there is no terminal to ask on; run it again with --yes (or --dry-run)`,
    );
  }
  return async (question) => {
    output.write(`${question}\n`);
    if (dryRun) return false;
    if (yes) return true;
    const terminal = createInterface({ input, output });
    // Who closes the terminal instead of answering has not agreed.
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    try {
      const answer = await Promise.race([terminal.question('Go on? [y/N] '), closed]);
      return /^y(es)?$/i.test(answer.trim());
    } finally {
      terminal.close();
    }
  };
}
