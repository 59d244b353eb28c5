import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape, textShape } from '../../../lib/shapes.ts';
import { allowlistKey } from '../allowlist-key.ts';
import { renderAllowlist } from '../render.ts';
import { IpAllowlistShape } from '../shapes.ts';
import { NetworkReader } from '../store/networks.ts';

export const getIpAllowlist = defineQuery({
  name: 'get_ip_allowlist',
  summary: 'The IP allowlist of the organization, or of one of its API keys.',
  parameters: Type.Object({ organizationId: IdShape, publicKey: Type.Optional(textShape(512)) }),
  response: Type.Object({ allowlist: IpAllowlistShape }),
  async run({ read, actor }, { publicKey }) {
    const key = allowlistKey(publicKey, 'publicKey');
    const lists = await read(NetworkReader).allowlists(actor.organizationId);
    const list = lists.find((candidate) => candidate.publicKey === key);
    return { allowlist: renderAllowlist(actor.organizationId, key, list) };
  },
});
