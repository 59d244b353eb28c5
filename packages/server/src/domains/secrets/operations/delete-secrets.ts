import Type from 'typebox';
import { namesOf } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { SecretStore } from '../store.ts';

export const deleteSecrets = defineActivity({
  name: 'delete_secrets',
  type: 'ACTIVITY_TYPE_DELETE_SECRETS',
  summary: 'Delete secrets, all or nothing.',
  policy: { governedBy: 'policy', resource: 'SECRET', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ secretIds: IdListShape }),
  sentence: ({ secretIds }, { names }) =>
    danger(
      say`Delete ${namesOf(names, 'secret', secretIds)} for ever.`,
      'cannot be undone',
      'These secrets are gone for ever. I want that.',
    ),
  result: Type.Object({ secretIds: Type.Array(Type.String()) }),
  async execute({ store, actor }, { secretIds }) {
    const ids = [...new Set(secretIds)];
    if ((await store(SecretStore).find(actor.organizationId, ids)).length !== ids.length) {
      throw new ApiError('RESOURCE_NOT_FOUND', 'secret not found in this organization');
    }
    await store(SecretStore).delete(actor.organizationId, ids);
    return { secretIds: ids };
  },
});
