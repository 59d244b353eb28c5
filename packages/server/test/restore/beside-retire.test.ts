import { createKeyring } from '@custos/keyring';
import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { retireKey } from '../../src/keyring-admin/retire.ts';
import { rotateKeyring } from '../../src/keyring-admin/rotate.ts';
import { writeDatabase } from '../faults/sealed-world.ts';
import { DATABASES } from '../harness/databases.ts';
import { BackedUp, dump, restoreInto } from './support.ts';

async function rootKeyOf({ rootKey }: Config): Promise<string> {
  const keyring = await createKeyring({ rootKey, mode: 'inline' });
  try {
    return keyring.rootKeyId;
  } finally {
    await keyring.close();
  }
}

test.each(DATABASES)(
  'on %s no root key is taken away while a backup is restored, nor the other way around',
  {
    timeout: 120_000,
  },
  async (database) => {
    await using made = await BackedUp.make(database);
    const { config, archive, key, server } = made;
    const keyId = await rootKeyOf(config);
    const retirement = { keyId, isNow: true, asksPerson: true, waitSeconds: 0, say: () => {} };
    const before = await dump(config);
    const restored = restoreInto(config, archive, key, {
      at: async (step) => {
        if (step === 'ring') await retireKey(config, { ...retirement, confirm: async () => true });
      },
    });
    await expect(restored).rejects.toThrow('another `custos keyring rotate` is running');
    expect(await dump(config)).toEqual(before);

    await rotateKeyring(config, { waitSeconds: 0, say: () => {}, confirm: async () => true, asksPerson: true });
    // Nothing that is recorded needs the earlier key.
    await writeDatabase(server, "DELETE FROM deployment WHERE name LIKE 'backup:%'");
    let refused: unknown;
    const confirm = async (): Promise<boolean> => {
      refused = await restoreInto(config, archive, key).catch((error: unknown) => error);
      return false;
    };
    await retireKey(config, { ...retirement, confirm });
    expect((refused as Error).message).toMatch(
      /another (command is changing the keys|`custos keyring rotate` is running)/,
    );
  },
);
