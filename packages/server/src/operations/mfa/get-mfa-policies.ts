import Type from 'typebox';
import { renderMfaPolicy } from '../../wire/access.ts';
import { defineQuery } from '../define.ts';
import { MfaPolicyShape } from '../shapes/access.ts';
import { IdShape } from '../shapes/basic.ts';

export const getMfaPolicies = defineQuery({
  name: 'get_mfa_policies',
  summary: 'The MFA policies of a user, in the order in which they are asked.',
  parameters: Type.Object({ organizationId: IdShape, userId: IdShape }),
  response: Type.Object({ mfaPolicies: Type.Array(MfaPolicyShape) }),
  async run({ read, actor }, { userId }) {
    await read.users.get(actor.organizationId, userId);
    return { mfaPolicies: (await read.mfa.ofUser(actor.organizationId, userId)).map(renderMfaPolicy) };
  },
});
