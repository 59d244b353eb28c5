import type { RingState } from '../keyring.ts';
import * as envelope from '../seal/envelope.ts';
import * as layout from '../seal/layout.ts';
import type { Keys } from './keys.ts';

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
    const isActive = layout.keyIdText(layout.decodeOrganizationKey(wrapped).rootKeyId) === ring.activeId;
    return isActive ? wrapped : envelope.rewrapOrganizationKey(root, organizationId, key, random);
  });
}

export async function addRootKey({ ring, random }: Keys): Promise<string> {
  return ring.add(random);
}

export async function removeRootKey({ ring }: Keys, id: string): Promise<void> {
  await ring.remove(id);
}

export async function refreshRing({ ring }: Keys): Promise<RingState> {
  return ring.refresh();
}
