import { toRfc3339 } from '../../lib/clock.ts';
import type { RecoveryKit } from './model.ts';

export function renderRecoveryKit({ id, createdAtMs, recipients, ...kit }: RecoveryKit) {
  return { recoveryKitId: id, ...kit, recipients: [...recipients], createdAt: toRfc3339(createdAtMs) };
}
