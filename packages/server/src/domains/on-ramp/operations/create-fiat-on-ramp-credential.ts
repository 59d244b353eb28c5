import Type from 'typebox';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import type { FiatOnRampCredentialId } from '../../../lib/ids.ts';
import { providerName } from '../provider-name.ts';
import { keepBundles, sealSecrets } from '../seal-secrets.ts';
import { CREDENTIAL_FIELDS } from '../shapes.ts';
import { OnRampStore } from '../store.ts';

export const createFiatOnRampCredential = defineActivity({
  name: 'create_fiat_on_ramp_credential',
  type: 'ACTIVITY_TYPE_CREATE_FIAT_ON_RAMP_CREDENTIAL',
  summary: 'Keep the keys of a fiat on-ramp provider; the secret ones come encrypted to the service.',
  policy: { governedBy: 'policy', resource: 'ON_RAMP_CREDENTIALS', action: 'CREATE' },
  credentials: 'none',
  scope: 'parent',
  // It alters no decision.
  lock: 'shared',
  parameters: Type.Object({ ...CREDENTIAL_FIELDS, sandboxMode: Type.Optional(Type.Boolean()) }),
  sentence: ({ onrampProvider, sandboxMode }) =>
    say`Connect ${strong(providerName(onrampProvider))} to buy coins with money${sandboxMode === true ? ', for tests' : ''}.`,
  result: Type.Object({ fiatOnRampCredentialId: Type.String() }),
  async prepare(context, { sandboxMode: _mode, ...parameters }) {
    const id: FiatOnRampCredentialId = context.newId();
    return { id, ...(await sealSecrets(context, id, parameters)) };
  },
  async execute(context, { sandboxMode = false }, content) {
    const { store, actor, nowMs } = context;
    await keepBundles(context, content);
    await store(OnRampStore).insertCredential(actor.organizationId, {
      ...content,
      isSandbox: sandboxMode,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    return { fiatOnRampCredentialId: content.id };
  },
});
