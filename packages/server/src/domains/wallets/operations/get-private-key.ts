import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderPrivateKey } from '../render.ts';
import { PrivateKeyShape } from '../shapes.ts';
import { PrivateKeyReader } from '../store/private-keys.ts';

export const getPrivateKey = defineQuery({
  name: 'get_private_key',
  summary: 'The public side of one private key.',
  parameters: Type.Object({ organizationId: IdShape, privateKeyId: IdShape }),
  response: Type.Object({ privateKey: PrivateKeyShape }),
  async run({ read, actor }, { privateKeyId }) {
    return { privateKey: renderPrivateKey(await read(PrivateKeyReader).get(actor.organizationId, privateKeyId)) };
  },
});
