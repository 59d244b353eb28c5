import type { RingState, StoredSecret } from '../keyring.ts';
import * as envelope from '../seal/envelope.ts';
import * as layout from '../seal/layout.ts';
import type { Keys } from './keys.ts';
import { tryOpen } from './try-open.ts';

/** That it was answered is all there is to know. */
export async function ping(): Promise<void> {}

export async function createOrganizationKey({ ring, random }: Keys, organizationId: string): Promise<Uint8Array> {
  return envelope.wrapNewOrganizationKey(ring.get(ring.activeId), organizationId, random);
}

export async function rewrapOrganizationKey(
  keys: Keys,
  organizationId: string,
  wrapped: Uint8Array,
): Promise<Uint8Array> {
  const { ring, random } = keys;
  return keys.withOrganizationKey(wrapped, organizationId, (key) => {
    const root = ring.get(ring.activeId);
    const isActive = layout
      .decodeOrganizationKeys(wrapped)
      .every(({ rootKeyId }) => layout.keyIdText(rootKeyId) === ring.activeId);
    if (isActive) return wrapped;
    const all = key.earlier === undefined ? [key] : [key, key.earlier];
    return layout.joinOrganizationKeys(
      all.map((each) => envelope.rewrapOrganizationKey(root, organizationId, each, random)),
    );
  });
}

export async function renewOrganizationKey(
  keys: Keys,
  organizationId: string,
  wrapped: Uint8Array,
): Promise<Uint8Array> {
  const { ring, random } = keys;
  return keys.withOrganizationKey(wrapped, organizationId, (key) => {
    if (key.earlier !== undefined) return wrapped;
    const root = ring.get(ring.activeId);
    return layout.joinOrganizationKeys([
      envelope.wrapNewOrganizationKey(root, organizationId, random),
      envelope.rewrapOrganizationKey(root, organizationId, key, random),
    ]);
  });
}

export async function rewrapDataKeys(
  keys: Keys,
  organizationKey: Uint8Array,
  organizationId: string,
  heads: readonly StoredSecret[],
): Promise<(Uint8Array | null)[]> {
  return keys.withOrganizationKey(organizationKey, organizationId, (key) =>
    heads.map(
      ({ ownerId, kind, sealed }) =>
        tryOpen(() => envelope.rewrapDataKey(key, { organizationId, ownerId, kind }, sealed, keys.random)) ?? null,
    ),
  );
}

export async function addRootKey({ ring, random }: Keys): Promise<string> {
  return ring.add(random);
}

export async function removeRootKey({ ring }: Keys, id: string): Promise<void> {
  await ring.remove(id);
}

export async function retireRootKey({ ring }: Keys, id: string, notBeforeMs: number): Promise<void> {
  await ring.retire(id, Math.max(Date.now(), notBeforeMs));
}

export async function restoreRootKey({ ring }: Keys, id: string): Promise<void> {
  await ring.restore(id);
}

export async function removeExpiredRootKeys({ ring }: Keys, ids: readonly string[]): Promise<string[]> {
  return ring.removeExpired(ids, Date.now());
}

export async function refreshRing({ ring }: Keys): Promise<RingState> {
  return ring.refresh();
}
