import { createKeyring, type Keyring, KeyringError } from '@custos/keyring';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeyDeployment } from '../../test/fixtures/key-deployment.ts';
import { addRootKey, removeRootKey } from './change-ring.ts';

let one: KeyDeployment;
let keyring: Keyring;

beforeEach(async () => {
  one = await KeyDeployment.make();
  keyring = await createKeyring({ rootKey: one.config.rootKey });
});
afterEach(async () => {
  await keyring.close();
  await one[Symbol.asyncDispose]();
});

/** The first answer of the method is lost, with the process that gave it. */
function losing(method: 'addRootKey' | 'removeRootKey'): Keyring {
  let isLost = false;
  return new Proxy(keyring, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        const answer = await value.apply(target, args);
        if (name !== method || isLost) return answer;
        isLost = true;
        throw new KeyringError('UNAVAILABLE', 'the keyring process is gone');
      };
    },
  });
}

test('a root key is added once, also if the answer is lost', async () => {
  const said: string[] = [];
  const added = await addRootKey(losing('addRootKey'), (line) => said.push(line));
  const { active, ids } = await keyring.refreshRing();
  expect([active, ids.length]).toEqual([added, 2]);
  expect(said).toEqual(['waiting: the keyring process is gone']);
});

test('a root key is removed, also if the answer is lost', async () => {
  const first = keyring.rootKeyId;
  await keyring.addRootKey();
  await removeRootKey(losing('removeRootKey'), first, () => {});
  expect((await keyring.refreshRing()).ids).not.toContain(first);
});
