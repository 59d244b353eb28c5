import { expect, test } from 'vitest';
import type { VelocityControl } from '../core/model.ts';
import { countsAgainst } from './reserve.ts';
import type { Motion } from './rules/velocity.ts';

const ETHER = { caip19: 'eip155:1/slip44:60', decimals: '18' };
const control = (dataSource: object): VelocityControl =>
  ({
    id: 'control',
    dataSource,
    aggregation: { method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM', groupBy: { organization: {} }, window: {} },
  }) as unknown as VelocityControl;
const transfer = (phase?: object) => control({ chainAssetTransfer: { definition: [ETHER], ...(phase && { phase }) } });
const motion = (phases?: Motion['phases']): Motion => ({
  activityType: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
  userId: 'user',
  walletId: 'wallet',
  uncounted: [],
  transfers: [
    { chain: 'eip155', chainReference: '1', kind: 'slip44', assetReference: '60', amount: 2n * 10n ** 18n },
  ] as unknown as Motion['transfers'],
  ...(phases && { phases }),
});

test.each([
  ['only signed', undefined, 1, 0, 1],
  ['signed and sent', ['signature', 'submission'], 1, 1, 1],
  ['only sent', ['submission'], 0, 1, 1],
] as const)(
  'what is %s counts once for whoever looks at that',
  (_what, phases, bySignature, bySubmission, byActivity) => {
    const counts = (one: VelocityControl): number => countsAgainst(one, motion(phases)).length;
    expect(counts(transfer())).toBe(bySignature);
    expect(counts(transfer({ signature: {} }))).toBe(bySignature);
    expect(counts(transfer({ submission: {} }))).toBe(bySubmission);
    expect(counts(control({ activityExecution: {} }))).toBe(byActivity);
  },
);
