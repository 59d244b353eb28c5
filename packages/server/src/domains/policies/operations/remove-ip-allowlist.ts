import Type from 'typebox';
import { shortId } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { textShape } from '../../../lib/shapes.ts';
import { allowlistKey } from '../allowlist-key.ts';
import { refuseLockout } from '../allowlist-lockout.ts';
import { NetworkStore } from '../store/networks.ts';

/** protocol/stamps 10. */
export const removeIpAllowlist = defineActivity({
  name: 'remove_ip_allowlist',
  type: 'ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST',
  summary:
    'Delete an IP allowlist with its rules. A key then follows the list of the organization, and an organization without one accepts all addresses.',
  policy: { governedBy: 'policy', resource: 'CONFIG', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ publicKey: Type.Optional(textShape(512)), allowLockout: Type.Optional(Type.Boolean()) }),
  sentence: ({ publicKey }) =>
    danger(
      say`Let ${publicKey === undefined ? say`this organization` : say`the API key ${strong(shortId(publicKey))}`} act from ${strong('every IP address')}: the list of addresses is removed.`,
      'takes a protection away',
      'Stolen keys then work from everywhere. I want that.',
    ),
  result: Type.Object({}),
  check: ({ publicKey }) => void allowlistKey(publicKey),
  async execute(context, { publicKey, allowLockout }) {
    const { store, actor } = context;
    const key = allowlistKey(publicKey);
    const left = (await store(NetworkStore).allowlists(actor.organizationId)).filter((list) => list.publicKey !== key);
    // A key that loses its own list may fall under a narrower one of the organization.
    if (allowLockout !== true) refuseLockout(context, left);
    await store(NetworkStore).remove(actor.organizationId, [key]);
    return {};
  },
});
