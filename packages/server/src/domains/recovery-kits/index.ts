import type { Domain } from '../../engine/domain.ts';
import { names } from './names.ts';
import { createRecoveryKit } from './operations/create-recovery-kit.ts';
import { deleteRecoveryKits } from './operations/delete-recovery-kits.ts';
import { getRecoveryKit } from './operations/get-recovery-kit.ts';
import { listRecoveryKits } from './operations/list-recovery-kits.ts';
import { tables } from './tables.ts';

export const recoveryKits: Domain = {
  name: 'recovery-kits',
  operations: [createRecoveryKit, deleteRecoveryKits, getRecoveryKit, listRecoveryKits],
  tables,
  names,
};
