import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderMfaPolicy } from '../render/mfa.ts';
import { MfaPolicyShape } from '../shapes/mfa.ts';
import { MfaReader } from '../store/mfa.ts';

/** protocol/login 10.1. */
export const getMfaPolicy = defineQuery({
  name: 'get_mfa_policy',
  summary: 'One MFA policy of a user.',
  parameters: Type.Object({ organizationId: IdShape, userId: IdShape, mfaPolicyId: IdShape }),
  response: Type.Object({ mfaPolicy: MfaPolicyShape }),
  async run({ read, actor }, { userId, mfaPolicyId }) {
    return { mfaPolicy: renderMfaPolicy(await read(MfaReader).get(actor.organizationId, userId, mfaPolicyId)) };
  },
});
