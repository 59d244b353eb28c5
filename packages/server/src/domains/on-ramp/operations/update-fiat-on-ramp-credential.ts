import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { providerName } from '../provider-name.ts';
import { keepBundles, sealSecrets } from '../seal-secrets.ts';
import { CREDENTIAL_FIELDS } from '../shapes.ts';
import { OnRampReader, OnRampStore } from '../store.ts';

export const updateFiatOnRampCredential = defineActivity({
  name: 'update_fiat_on_ramp_credential',
  type: 'ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL',
  summary: 'Replace everything in a fiat on-ramp credential but its mode.',
  policy: { governedBy: 'policy', resource: 'ON_RAMP_CREDENTIALS', action: 'UPDATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({ fiatOnrampCredentialId: IdShape, ...CREDENTIAL_FIELDS }),
  sentence: ({ fiatOnrampCredentialId, onrampProvider }, { names }) =>
    lookClosely(
      say`Replace the keys of ${nameOf(names, 'onRampCredential', fiatOnrampCredentialId)} by others of ${strong(providerName(onrampProvider))}.`,
      'purchases go through another account',
      'Purchases then go through the account of these keys. I want that.',
    ),
  result: Type.Object({ fiatOnRampCredentialId: Type.String() }),
  describe: ({ read, actor }, { fiatOnrampCredentialId }) =>
    read(OnRampReader).getCredential(actor.organizationId, fiatOnrampCredentialId),
  prepare: (context, { fiatOnrampCredentialId: _id, ...parameters }, { id }) => sealSecrets(context, id, parameters),
  async execute(context, { fiatOnrampCredentialId }, content) {
    const { store, actor, nowMs } = context;
    await keepBundles(context, content);
    const credential = await store(OnRampStore).getCredential(actor.organizationId, fiatOnrampCredentialId);
    await store(OnRampStore).updateCredential(actor.organizationId, { ...credential, ...content, updatedAtMs: nowMs });
    // The result has another spelling than the request.
    return { fiatOnRampCredentialId: fiatOnrampCredentialId };
  },
});
