import type { ShownFence } from '@custos/server/admin';
import { Command } from 'commander';
import { plain, time } from '../unverified.ts';

/** `custos status`: how the keys of the service are kept, and whether its database waits behind a fence. Takes the service's own settings, and asks no service. */
export function statusCommand(): Command {
  return new Command('status')
    .description(
      'Say how keys are protected, what is still kept together, and whether a restored database waits to be accepted. Uses the settings of the service.',
    )
    .action(async () => {
      const { describeRecord, listBackups, readFence, readIntegrity, readProtection } = await import(
        '@custos/server/admin'
      );
      const { text, keyring, rootKey, together } = await readProtection(process.env);
      const lines = [`protection  ${text}`, `root key    ${rootKey}`];
      lines.push(`integrity   ${describeIntegrity(await readIntegrity(process.env))}`);
      lines.push(
        `backup      ${await describeBackups(async () => (await listBackups(process.env)).map(describeRecord))}`,
      );
      lines.push(`fence       ${describeFence(await readFence(process.env))}`);
      if (together.length === 0)
        lines.push(
          keyring === 'socket'
            ? 'together    nothing: database and root credentials are apart; only the keyring knows where the root key is'
            : 'together    nothing: database, root key and root credentials are apart',
        );
      else lines.push(...together.map((sentence) => `together    ${sentence}`));
      process.stdout.write(`${lines.join('\n')}\n`);
    });
}

/** Of a database that is away, or was never made, the rest is told all the same. */
async function describeBackups(read: () => Promise<readonly string[]>): Promise<string> {
  try {
    const [newest] = await read();
    return newest === undefined ? 'none is recorded (`custos backup` makes one)' : `the newest is ${newest}`;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'StartError') throw error;
    return `not known: ${error.message}`;
  }
}

function describeIntegrity(required: readonly string[] | undefined): string {
  if (required === undefined) return 'not known: the key ring cannot be opened here';
  if (required.length === 0) return 'stored rows are not authenticated yet (`custos integrity enable`)';
  const earlier = required.length > 1 ? `; ${required.length - 1} earlier, refused` : '';
  return `stored rows must be authenticated (integrity key ${required.at(-1)}${earlier})`;
}

function describeFence(fence: ShownFence | string): string {
  if (typeof fence === 'string') return `not known: ${fence}`;
  const { last, isUp, accepted } = fence;
  if (last === undefined) return 'none: the database was never restored from a backup';
  const restored = `restored ${time(last.restoredAtMs)} from a backup of ${time(last.snapshotAtMs)}`;
  if (!isUp) return `down: ${restored}, accepted ${time(last.acceptedAtMs ?? 0)} by ${plain(last.acceptedBy ?? '?')}`;
  const some = accepted === 0 ? '' : `, except for ${accepted} organization${accepted === 1 ? '' : 's'}`;
  return `up since it was ${restored}: nothing is done${some} until you run \`custos restore review\` and \`custos restore accept\``;
}
