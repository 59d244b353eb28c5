import Type from 'typebox';
import { renderPrivateKey } from '../../wire/wallet.ts';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { PrivateKeyShape } from '../shapes/wallets.ts';

export const getPrivateKey = defineQuery({
  name: 'get_private_key',
  summary: 'The public side of one private key.',
  parameters: Type.Object({ organizationId: IdShape, privateKeyId: IdShape }),
  response: Type.Object({ privateKey: PrivateKeyShape }),
  async run({ read, actor }, { privateKeyId }) {
    return { privateKey: renderPrivateKey(await read.privateKeys.get(actor.organizationId, privateKeyId)) };
  },
});
