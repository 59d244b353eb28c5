import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { OnRampStore } from '../store.ts';

export const deleteFiatOnRampCredential = defineActivity({
  name: 'delete_fiat_on_ramp_credential',
  type: 'ACTIVITY_TYPE_DELETE_FIAT_ON_RAMP_CREDENTIAL',
  summary: 'Delete a fiat on-ramp credential with its secrets.',
  policy: { governedBy: 'policy', resource: 'ON_RAMP_CREDENTIALS', action: 'DELETE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ fiatOnrampCredentialId: IdShape }),
  sentence: ({ fiatOnrampCredentialId }, { names }) =>
    lookClosely(
      say`Disconnect ${nameOf(names, 'onRampCredential', fiatOnrampCredentialId)}: nobody can buy coins through it then.`,
      'ends purchases',
      'Nobody can buy coins through it then. I want that.',
    ),
  result: Type.Object({ fiatOnRampCredentialId: Type.String() }),
  async execute({ store, actor }, { fiatOnrampCredentialId }) {
    await store(OnRampStore).deleteCredential(actor.organizationId, fiatOnrampCredentialId);
    // The result has another spelling than the request.
    return { fiatOnRampCredentialId: fiatOnrampCredentialId };
  },
});
