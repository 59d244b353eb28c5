import Type from 'typebox';
import { namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { RecoveryKitStore } from '../store.ts';

export const deleteRecoveryKits = defineActivity({
  name: 'delete_recovery_kits',
  type: 'ACTIVITY_TYPE_DELETE_RECOVERY_KITS',
  summary:
    "Delete the service's copies of recovery kits, all or nothing. Files that were fetched stay as they are. Needs the root quorum.",
  policy: { governedBy: 'root-quorum' },
  credentials: 'none',
  lock: 'shared',
  ours: true,
  parameters: Type.Object({ recoveryKitIds: IdListShape }),
  sentence: ({ recoveryKitIds }, { names }) =>
    lookClosely(
      say`Delete ${namesOf(names, 'recoveryKit', recoveryKitIds)} from this service: files that were fetched before still open.`,
      'cannot be fetched any more',
      'Nobody can fetch this any more. What was fetched before still opens. I want that.',
    ),
  result: Type.Object({ recoveryKitIds: Type.Array(Type.String()) }),
  async execute({ store, actor }, { recoveryKitIds }) {
    const ids = [...new Set(recoveryKitIds)];
    const kits = store(RecoveryKitStore);
    for (const id of ids) await kits.get(actor.organizationId, id);
    await kits.delete(actor.organizationId, ids);
    return { recoveryKitIds: ids };
  },
});
