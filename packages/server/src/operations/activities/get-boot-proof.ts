import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import { defineQuery } from '../define.ts';
import { IdShape, textShape } from '../shapes/basic.ts';

/** Only special hardware can make a boot proof; this deployment says so instead of making one up (decision 7). */
export const getBootProof = defineQuery({
  name: 'get_boot_proof',
  summary: 'Always answers 404: this deployment is not attested by hardware.',
  parameters: Type.Object({ organizationId: IdShape, ephemeralKey: textShape(1024) }),
  response: Type.Object({ bootProof: Type.Unknown() }),
  async run() {
    throw new ApiError('RESOURCE_NOT_FOUND', 'this deployment is not attested: it has no boot proofs');
  },
});
