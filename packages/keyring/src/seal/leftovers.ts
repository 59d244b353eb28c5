import { removeLeftovers, targetOf } from './private-file.ts';
import { withRingLock } from './ring-lock.ts';
import { parseRootKeySetting } from './root-key-setting.ts';

/**
 * Removes what killed changes of a ring left beside it. The keyring process may not list the folder, so that commands do
 * this. Answers with what may still be there.
 */
export async function removeRingLeftovers(rootKey: string): Promise<string[]> {
  const ringPath = targetOf(parseRootKeySetting(rootKey).ringPath);
  return await withRingLock(ringPath, () => removeLeftovers(ringPath));
}
