import type { Config } from '../config/config.ts';
import { type Restoration, RestorationReader } from '../fence/store.ts';
import { openBeside } from '../keyring-admin/beside.ts';
import { StartError } from '../lib/start-error.ts';

export interface ShownFence {
  /** The newest restore of the database, if there was one; nobody has verified what it says. */
  readonly last: Restoration | undefined;
  /** Whether one of them is still to be accepted. */
  readonly isUp: boolean;
  /** Organizations that one was accepted for while it is up. */
  readonly accepted: number;
}

/** Whether the database waits behind a fence, without opening a key; a sentence where that cannot be told. */
export async function showFence(config: Config): Promise<ShownFence | string> {
  try {
    const storage = await openBeside(config, 'status');
    try {
      const all = await storage.read(RestorationReader).shown();
      const open = all.filter(({ acceptedAtMs }) => acceptedAtMs === undefined).at(-1);
      const accepted = open === undefined ? [] : await storage.read(RestorationReader).candidatesFor(open.id);
      return { last: all.at(-1), isUp: open !== undefined, accepted: accepted.length };
    } finally {
      await storage.close();
    }
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
}
