import Type from 'typebox';
import { renderMfaPolicy } from '../../wire/access.ts';
import { defineQuery } from '../define.ts';
import { MfaPolicyShape } from '../shapes/access.ts';
import { IdShape } from '../shapes/basic.ts';

/** protocol/login 10.1. */
export const getMfaPolicy = defineQuery({
  name: 'get_mfa_policy',
  summary: 'One MFA policy of a user.',
  parameters: Type.Object({ organizationId: IdShape, userId: IdShape, mfaPolicyId: IdShape }),
  response: Type.Object({ mfaPolicy: MfaPolicyShape }),
  async run({ read, actor }, { userId, mfaPolicyId }) {
    return { mfaPolicy: renderMfaPolicy(await read.mfa.get(actor.organizationId, userId, mfaPolicyId)) };
  },
});
