import { hostname } from 'node:os';
import type { Keyring } from '@custos/keyring';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { randomId } from '../lib/ids.ts';
import type { ServiceKey } from '../storage/service-key.ts';
import type { Storage } from '../storage/storage.ts';
import { type ProcessState, parseRotation } from './rotation.ts';

/** Well below the time that a rotation gives a process to answer. */
const LOOK_EVERY_MS = 1000;

/**
 * Makes this process known to rotations and follows them: it reads the key ring when another root key is wanted, says
 * whether it holds that key, and loads the service keys again once their key is wrapped anew or there are others. Ends
 * with the keyring. `loadServiceKeys` is given the wrapped key; `loaded` is what was loaded, with which one.
 */
export async function followRotations(
  storage: Storage,
  keyring: Keyring,
  loaded: { readonly wrapped: string; readonly keys: readonly ServiceKey[] },
  loadServiceKeys: (wrapped: string) => Promise<readonly ServiceKey[]>,
): Promise<void> {
  const id: string = randomId();
  const self = { host: hostname(), pid: process.pid };
  let known = { wrapped: loaded.wrapped, ids: idsOf(loaded.keys) };
  let wasRotating = false;

  const look = async (): Promise<void> => {
    let said = await storage.read(InstallationReader).process(id);
    const say = async (state: ProcessState): Promise<void> => {
      const text = JSON.stringify(state);
      if (text === said || keyring.closing.aborted) return;
      await storage.write((store) => store(InstallationStore).putProcess({ id, state: text }));
      said = text;
    };
    const facts = await storage.read(InstallationReader).facts(['rotation', 'root_key_id', 'deployment_key']);
    const rotation = parseRotation(facts.get('rotation'));
    const wanted = rotation?.to ?? facts.get('root_key_id');
    const hasEnded = wasRotating && rotation === undefined;
    wasRotating = rotation !== undefined;
    const mustRead = wanted !== undefined && (hasEnded || !uses(keyring, wanted));
    // Reading takes a while with a passphrase, and who says nothing counts as killed.
    if (rotation !== undefined && mustRead) await say({ ...self, rotation: rotation.id });
    // A rotation that took this process for killed has removed it; the next one must know it again.
    if (rotation === undefined && said === undefined) await say(self);
    // A ring that cannot be read leaves the keys as they are; what they are is what is answered.
    if (mustRead) await keyring.refreshRing().catch(() => {});
    if (rotation !== undefined) await say({ ...self, rotation: rotation.id, holdsKey: uses(keyring, rotation.to) });
    const wrapped = facts.get('deployment_key');
    if (wrapped === undefined) return;
    const ids = idsOf(await storage.read(InstallationReader).serviceKeys());
    if (wrapped === known.wrapped && ids === known.ids) return;
    known = { wrapped, ids: idsOf(await loadServiceKeys(wrapped)) };
  };

  let timer: NodeJS.Timeout | undefined;
  const lookAgain = (): void => {
    if (keyring.closing.aborted) return;
    // While database or keyring are away there is nothing to follow.
    timer = setTimeout(
      () =>
        void look()
          .catch(() => {})
          .finally(lookAgain),
      LOOK_EVERY_MS,
    ).unref();
  };

  await storage.write(async (store) => {
    // The embedded database has one process: others in it were killed.
    if (storage.kind === 'sqlite') {
      for (const other of await store(InstallationStore).processes())
        await store(InstallationStore).removeProcess(other.id);
    }
    await store(InstallationStore).putProcess({ id, state: JSON.stringify(self) });
  });
  keyring.closing.addEventListener('abort', () => {
    clearTimeout(timer);
    void storage.write((store) => store(InstallationStore).removeProcess(id)).catch(() => {});
  });
  await look();
  lookAgain();
}

const idsOf = (keys: readonly ServiceKey[]): string => keys.map(({ keyId }) => keyId).join();

const uses = (keyring: Keyring, rootKeyId: string): boolean =>
  keyring.rootKeyId === rootKeyId && keyring.hasRootKey(rootKeyId);
